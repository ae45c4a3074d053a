"""Features of named layers for many pictures, their nearest neighbours, and what a model is made of."""
