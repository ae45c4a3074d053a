from page import PAGE, modules, page, public


def test_the_page_of_recipes_says_what_the_docstrings_say():
    assert PAGE.read_text(encoding="utf-8") == page(), "run `python tests/recipes/page.py`"


def test_every_public_recipe_says_in_a_sentence_what_it_does():
    for module in modules():
        assert public(module)
        for name, thing in public(module).items():
            assert len((thing.__doc__ or "").split()) > 3, f"{module.__name__}.{name}"
