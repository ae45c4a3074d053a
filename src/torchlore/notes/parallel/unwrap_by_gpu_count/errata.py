"""What the documents wrote about unwrapping a model."""

from torchlore.catalogue import Erratum

ERRATA = (
    Erratum(
        id="E073",
        where="000:50-53, 002:130-133",
        written="if self.nGPU == 1: return self.model else: return self.model.module",
        proof=(
            "model, nGPU = torch.nn.Linear(2, 2), 0\n"
            "def get_model():\n    if nGPU == 1:\n        return model\n    else:\n        return model.module\nget_model()"
        ),
        happens="AttributeError: 'Linear' object has no attribute 'module'",
        instead="Ask the model, not the machine: `getattr(model, 'module', model)`, or `unwrap(model)`.",
    ),
)
