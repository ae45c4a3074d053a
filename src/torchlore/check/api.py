"""What torch's own functions, classes and methods give back, as far as a rule may want to know."""

from __future__ import annotations

import re
from functools import lru_cache

from torchlore.check.pattern import regex

KIND_OF: dict[str, str] = {
    "torch.nn.Parameter": "parameter", "torch.nn.UninitializedParameter": "parameter", "torch.nn.Buffer": "tensor",
    "torch.nn.ModuleList": "modulelist", "torch.nn.ModuleDict": "moduledict", "torch.nn.Sequential": "sequential",
    "torch.nn.ParameterList": "parameterlist", "torch.nn.ParameterDict": "parameterlist",
    "torch.utils.data.DataLoader": "loader", "torch.cuda.amp.GradScaler": "scaler", "torch.amp.GradScaler": "scaler",
    "torch.utils.data.TensorDataset": "dataset", "torch.utils.data.Subset": "dataset",
    "torch.utils.data.ConcatDataset": "dataset", "torch.utils.data.ChainDataset": "dataset",
    "torch.utils.data.StackDataset": "dataset", "torch.utils.data.Dataset": "dataset",
    "torch.utils.data.IterableDataset": "dataset",
    "torch.device": "device", "torch.Generator": "generator", "torch.from_numpy": "tensor", "torch.load": "",
    "torch.compile": "", "torch.hub.load": "module", "timm.create_model": "module", "timm.models.create_model": "module",
    "timm.scheduler.create_scheduler": "", "torch.autograd.Variable": "tensor", "torch.Tensor": "tensor",
    "torch.FloatTensor": "tensor", "torch.LongTensor": "tensor", "torch.cuda.FloatTensor": "tensor",
    "torch.DoubleTensor": "tensor", "torch.BoolTensor": "tensor", "torch.IntTensor": "tensor",
    "accelerate.Accelerator": "accelerator", "lightning.pytorch.Trainer": "trainer", "transformers.Trainer": "trainer",
    "torch.optim.swa_utils.AveragedModel": "module", "torch.optim.swa_utils.SWALR": "scheduler",
    "torch.utils.tensorboard.SummaryWriter": "writer", "torch.jit.script": "module", "torch.jit.trace": "module",
    "int": "number", "float": "number", "len": "number", "round": "number", "str": "string", "bool": "bool",
    "dict": "dict", "list": "list", "set": "set", "collections.defaultdict": "dict", "collections.OrderedDict": "dict",
    "collections.deque": "list", "range": "range", "repr": "string", "open": "file", "id": "number", "abs": "",
    "time.time": "number", "time.perf_counter": "number", "isinstance": "bool", "numpy.random.default_rng": "nprng",
    "numpy.random.RandomState": "nprng", "random.Random": "pyrng",
}  # fmt: skip

# what a file says that builds an optimizer of torch, for `WORDS`; on a page another block may hold the import
OPTIMIZERS = (
    "optim|SGD|Adam|AdamW|RMSprop|Adagrad|Adadelta|Adamax|NAdam|RAdam|ASGD|LBFGS|Rprop|SparseAdam|Adafactor|Muon"
)

_FOREIGN = r"(?:apex|bitsandbytes|transformers|timm|torch_optimizer|lion_pytorch|deepspeed)\.(?:\w+\.)*(?:Fused|Paged)?"
_PATTERNS = tuple(
    (re.split(r"[^\w\\.]|\\w", pattern)[0].replace("\\.", "."), pattern, kind)  # what it must start with, for speed
    for pattern, kind in (
        (r"torch\.nn\.(?!utils|functional|init|parallel|modules|quantized|qat)\w*Loss(?:WithLogits\w*)?$", "loss"),
        (r"torch\.nn\.(?:parallel\.)?[A-Z]\w*$", "module"),
        (r"torch\.optim\.lr_scheduler\.[A-Z]\w*$", "scheduler"),
        (r"transformers\.(?:optimization\.)?get_\w*schedule\w*$", "scheduler"),
        (r"torch\.optim\.[A-Z]\w*$", "optimizer"),
        (rf"{_FOREIGN}(?:Adam|AdamW|SGD|LAMB|Lamb|Lion|Adafactor|LARS|RAdam|RMSprop|Adagrad|AdamP)(?:8bit)?$", "optimizer"),
        (r"torch\.utils\.data\.(?:\w+\.)?\w*Sampler$", "sampler"),
        (r"torchvision\.datasets\.[A-Z]\w*$", "dataset"),
        (r"torchvision\.models\.(?:\w+\.)*(?!get_|list_)[a-z]\w*$", "module"),
        (r"torchvision\.models\.(?:\w+\.)*get_model$", "module"),
        (r"torchvision\.models\.(?:\w+\.)*[A-Z]\w*$", "module"),
        (r"torchvision\.(?:ops|transforms)\.[A-Z]\w*$", "transform"),
        (r"torchvision\.transforms\.(?:functional|v2\.functional)\.(?:to_tensor|pil_to_tensor|normalize)$", "tensor"),
        (r"torchvision\.transforms\.v2\.[A-Z]\w*$", "transform"),
        (r"transformers\.(?:\w*Model|\w+For[A-Z])\w*\.from_pretrained$", "module"),
        (r"transformers\.\w*Tokenizer\w*\.from_pretrained$", "tokenizer"),
        (r"segmentation_models_pytorch\.[A-Z]\w*$", "module"),
        (r"(?:torch_geometric|monai|kornia)\.(?:\w+\.)*nn\.(?:\w+\.)*[A-Z]\w*$", "module"),
        (r"torchmetrics\.(?:\w+\.)*[A-Z]\w*$", "metric"),
        (r"torch\.nn\.functional\.[a-z]\w*$", "tensor"),
        (r"torch\.(?:fft|linalg|special)\.[a-z]\w*$", "tensor"),
        (r"(?:jax\.)?numpy\.(?:linalg\.|random\.|fft\.)?[a-z]\w*$", "ndarray"),
    )
)  # fmt: skip
_NOT_TENSOR = (
    r"torch\.(?:is_|no_grad|enable_grad|set_|get_|save|load|manual_seed|seed|initial_seed|inference_mode|autocast|device|"
    r"compile|use_deterministic|are_|can_cast|promote_types|result_type|numel|finfo|iinfo|Size|Generator|vmap|func|jit|"
    r"typename|allclose|equal$|broadcast_shapes|import_ir|autograd|cuda|backends|distributed|utils|version|hub|testing|"
    r"profiler|fx|export|onnx|ao|quantization|multiprocessing|overrides|library|ops|classes|package|futures|cond$|"
    r"float|double|half|bfloat|int|uint|long|short|bool|complex|strided|sparse_|channels_last|contiguous_format)"
)
TUPLES = {"max", "min", "topk", "sort", "median", "mode", "kthvalue", "cummax", "cummin", "split", "chunk", "unbind",
          "tensor_split", "meshgrid", "unique", "unique_consecutive", "std_mean", "var_mean", "svd", "eig", "slogdet",
          "hsplit", "vsplit", "dsplit", "split_with_sizes", "unsafe_split", "unsafe_chunk", "aminmax",
          "broadcast_tensors", "where"}  # fmt: skip
SAME_LAYOUT = {"contiguous", "float", "double", "half", "bfloat16", "to", "cuda", "cpu", "clone", "type", "type_as",
               "requires_grad_", "pin_memory", "npu", "xpu", "mps", "detach", "detach_", "data", "retain_grad"}  # fmt: skip
RESHAPES = {"view", "reshape", "squeeze", "unsqueeze", "flatten", "permute", "transpose", "t", "expand", "expand_as",
            "repeat", "swapaxes", "movedim", "squeeze_", "unsqueeze_", "narrow", "select", "index_select", "unflatten",
            "view_as", "reshape_as", "roll", "flip", "gather", "T", "mT"}  # fmt: skip
STATE_OF = {"softmax": "probs", "log_softmax": "logprobs", "sigmoid": "sigmoid", "logsigmoid": "logsigmoid",
            "tanh": "tanh", "relu": "relu", "gelu": "gelu", "softmin": "probs", "gumbel_softmax": "probs",
            "Softmax": "probs", "Softmax2d": "probs", "LogSoftmax": "logprobs", "Sigmoid": "sigmoid", "Tanh": "tanh",
            "ReLU": "relu", "GELU": "gelu", "LogSigmoid": "logsigmoid", "Softmin": "probs", "SiLU": "silu",
            "linear": "logits", "conv1d": "logits", "conv2d": "logits", "conv3d": "logits", "bilinear": "logits",
            "Linear": "logits", "LazyLinear": "logits", "Conv1d": "logits", "Conv2d": "logits", "Conv3d": "logits",
            "ConvTranspose2d": "logits", "Bilinear": "logits", "softmax_": "probs", "sigmoid_": "sigmoid",
            "softplus": "softplus", "Softplus": "softplus", "hardsigmoid": "sigmoid", "Hardsigmoid": "sigmoid",
            "leaky_relu": "relu", "LeakyReLU": "relu", "relu_": "relu", "elu": "elu", "ELU": "elu"}  # fmt: skip
KEEPS_STATE = {"Flatten", "Unflatten", "Identity", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout"}
LOSS_FUNCTIONS = {
    f"torch.nn.functional.{name}"
    for name in [
        "cross_entropy",
        "nll_loss",
        "binary_cross_entropy",
        "binary_cross_entropy_with_logits",
        "mse_loss",
        "l1_loss",
        "smooth_l1_loss",
        "huber_loss",
        "kl_div",
        "poisson_nll_loss",
        "gaussian_nll_loss",
        "cosine_embedding_loss",
        "margin_ranking_loss",
        "ctc_loss",
        "hinge_embedding_loss",
        "triplet_margin_loss",
        "triplet_margin_with_distance_loss",
        "multi_margin_loss",
        "multilabel_margin_loss",
        "multilabel_soft_margin_loss",
        "soft_margin_loss",
    ]
}
FRESH = {"tensor", "as_tensor", "zeros", "ones", "rand", "randn", "randint", "randperm", "arange", "linspace", "eye",
         "full", "empty", "from_numpy", "logspace", "multinomial", "bernoulli", "normal", "zeros_like", "ones_like",
         "rand_like", "randn_like", "empty_like", "full_like", "randint_like", "one_hot", "argmax", "argmin", "Tensor",
         "FloatTensor", "LongTensor", "tril_indices", "triu_indices", "isnan", "isfinite", "eq", "ne", "gt", "lt", "ge",
         "le", "logical_and", "logical_or", "logical_not", "bincount", "searchsorted", "argsort", "nonzero"}  # fmt: skip
NO_TENSOR_METHODS = {
    "item": "number", "tolist": "list", "numpy": "ndarray", "size": "shape", "dim": "number", "numel": "number",
    "nelement": "number", "ndimension": "number", "stride": "shape", "backward": "none", "is_floating_point": "bool",
    "is_contiguous": "bool", "get_device": "number", "element_size": "number", "data_ptr": "number", "equal": "bool",
    "allclose": "bool", "is_complex": "bool", "is_pinned": "bool", "storage": "", "untyped_storage": "",
    "register_hook": "handle", "type": "", "share_memory_": "tensor", "__len__": "number", "is_shared": "bool",
}  # fmt: skip
ONLY_TENSOR_METHODS = {"unsqueeze", "detach", "detach_", "permute", "softmax", "log_softmax", "sigmoid",
                       "matmul", "gather", "scatter_", "masked_fill", "masked_fill_", "expand_as", "type_as", "bmm",
                       "argmax", "unsqueeze_", "view_as", "logsumexp", "index_select", "clamp_min", "new_zeros",
                       "new_ones", "new_tensor", "new_full", "mul_", "add_", "div_", "sub_", "clamp_", "zero_", "fill_",
                       "addmm", "baddbmm", "relu", "erf", "chunk", "topk", "pin_memory", "contiguous"}  # fmt: skip
METHODS = {
    ("module", "parameters"): "parameters", ("module", "named_parameters"): "named_parameters",
    ("module", "state_dict"): "state_dict", ("optimizer", "state_dict"): "optimizer_state",
    ("module", "modules"): "modules", ("module", "children"): "modules", ("module", "named_modules"): "named_modules",
    ("module", "named_children"): "named_modules", ("module", "buffers"): "tensors",
    ("module", "load_state_dict"): "keys", ("scheduler", "get_last_lr"): "list", ("scaler", "scale"): "tensor",
    ("scaler", "get_scale"): "number", ("ndarray", "tolist"): "list", ("ndarray", "item"): "number",
    ("dict", "items"): "items", ("string", "format"): "string", ("string", "split"): "list", ("string", "join"): "string",
    ("moduledict", "items"): "named_modules", ("moduledict", "values"): "modules", ("tokenizer", "encode"): "list",
}  # fmt: skip
SELF_METHODS = {"to", "cuda", "cpu", "eval", "train", "float", "half", "double", "bfloat16", "requires_grad_", "apply",
                "type", "xpu", "npu", "compile", "share_memory"}  # fmt: skip
NO_PARTS = frozenset({  # methods that no network has a part of the same name for: a call of one calls no module and no loss
    "append", "items", "format", "join", "split", "view", "reshape", "size", "mean", "sum", "item", "backward", "zero_grad", "parameters",
    "state_dict", "extend", "tolist", "numpy", "clone", "unsqueeze", "detach", "detach_", "permute", "masked_fill", "masked_fill_",
    "expand_as", "type_as", "argmax", "argmin", "view_as", "new_zeros", "new_ones", "new_tensor", "new_full", "mul_", "add_", "div_",
    "sub_", "clamp", "clamp_", "zero_", "fill_", "copy_", "uniform_", "normal_", "topk", "pin_memory", "contiguous", "nonzero", "numel",
    "astype", "is_contiguous", "dim", "ndimension", "to", "cuda", "cpu", "float", "half", "double", "bfloat16", "long", "int",
    "requires_grad_", "named_parameters", "modules", "named_modules", "children", "named_children", "buffers", "named_buffers",
    "register_buffer", "register_parameter", "register_forward_hook", "load_state_dict", "add_module", "add_argument", "parse_args",
    "add_argument_group", "startswith", "endswith", "lower", "upper", "strip", "replace", "keys", "pop", "setdefault", "exists",
    "dirname", "basename", "realpath", "abspath", "makedirs", "mkdir", "isfile", "isdir", "info", "warning", "debug", "add_scalar",
    "set_description", "set_postfix", "readlines", "readline", "time", "perf_counter", "all_reduce", "barrier", "get_rank",
    "get_world_size", "manual_seed", "named_steps", "state_dicts", "param_groups", "__init__"})  # fmt: skip
SLICED = {"list", "tuple", "sequential", "modulelist", "modules", "ndarray", "string"}  # a slice is of the same kind
PARTS = regex(  # what published networks call their parts, which are modules and no parameters
    r"features|classifier|(?:layer|conv|bn|norm)\d|fc\d?|heads?|backbone|encoder|decoder|stem|body|trunk|bert|roberta|distilbert|vision_model|"
    r"text_model|transformer|embeddings|lm_head|roi_heads|rpn|aux_classifier|avgpool|patch_embed"
)
WRAPPERS = {"torch.nn.DataParallel", "torch.nn.parallel.DistributedDataParallel", "torch.compile", "torch.jit.script",
            "torch.distributed.fsdp.FullyShardedDataParallel", "torch.optim.swa_utils.AveragedModel",
            "torch.nn.SyncBatchNorm.convert_sync_batchnorm", "torch.quantization.prepare_qat"}  # fmt: skip
PRETRAINED = regex(r"transformers\.(?:\w+\.)*\w*(?:PreTrainedModel|Model|For[A-Z]\w+)$")
BASE_KINDS = (
    (r"torch\.nn\.\w*Loss|torch\.nn\._Loss|torch\.nn\._WeightedLoss", "loss"),
    (r"torch\.nn\.ModuleList$", "modulelist"),
    (r"torch\.nn\.ModuleDict$", "moduledict"),
    (r"torch\.nn\.Sequential$", "sequential"),
    (r"torch\.nn\.(?:parallel\.)?[A-Z]\w*|lightning\.pytorch\.LightningModule|torch\.jit\.ScriptModule", "module"),
    (r"(?:torchvision\.models|timm|torch_geometric\.nn)\.(?:\w+\.)*[A-Z]\w*", "module"),
    (r"transformers\.(?:\w+\.)*\w*(?:PreTrainedModel|Model|For\w+)$", "module"),
    (r"torch\.utils\.data\.\w*Dataset|torchvision\.datasets\.\w+|torch_geometric\.data\.\w*Dataset", "dataset"),
    (r"torch\.utils\.data\.\w*Sampler", "sampler"),
    (r"torch\.utils\.data\.DataLoader", "loader"),
    (r"torch\.optim\.lr_scheduler\.\w+", "scheduler"),
    (r"torch\.optim\.[A-Z]\w*", "optimizer"),
    (r"torch\.autograd\.Function", "autogradfunction"),
)  # fmt: skip
PARENT_KIND = {"parameter": "tensor", "loss": "module", "sequential": "module", "modulelist": "module",
               "moduledict": "module", "bool": "number"}  # fmt: skip
_NETS = (
    "model|net|network|backbone|encoder|decoder|generator|discriminator|classifier|netG|netD|critic|actor|student|"
    "teacher|unet|resnet|ema_model|autoencoder|vae|cnn|mlp|lstm|rnn|gru|bert|gpt|qnet|model_ft"
)
WEAK_NAMES = (
    (r"^(?:\w+_)?(?:optim|optimizer|optimiser|opt)(?:_?\w)?$|^(?:optim|optimizer|opt)_\w+$", "optimizer"),
    (r"(?:^|_)(?:lr_)?(?:scheduler|sched)$|^(?:scheduler|lr_sched)\w*$", "scheduler"),
    (r"^(?:\w+_)?(?:criterion|loss_fn|loss_func|loss_function|lossfn|objective_fn)(?:_\w+)?$|^criterion\w*$", "loss"),
    (r"(?:^|_)(?:data_?)?loaders?$|(?:^|_)dl$|^dataloader_?\w*$", "loader"),
    (r"(?:^|_)(?:trn?|train|training|val|valid|validation|test|eval|dev)_?(?:data|Data)?(?:[lL]oader|DL)$", "loader"),
    (r"^(?:grad_?)?scaler$", "scaler"),
    (rf"^(?:\w+_)?(?:{_NETS})(?:_?\w)?$", "module"),
    (r"^(?:\w+_)?loss(?:_\w+)?$|^(?:\w+_)?logits$", "tensor"),
    (r"^(?:\w+_)?dataset$", "dataset"),
    (r"^accelerator$", "accelerator"),
)  # fmt: skip


@lru_cache(maxsize=16384)
def kind_of_call(name: str) -> str | None:
    """Kind of what a call of this full name gives; None where it is not in the tables."""
    if name in KIND_OF:
        return KIND_OF[name]
    for start, pattern, kind in _PATTERNS:
        if name.startswith(start) and re.match(pattern, name):
            return kind
    if name.startswith("torch.") and name.count(".") == 1 and name[6:7].islower() and not re.match(_NOT_TENSOR, name):
        return "tensor"
    return None


def kind_of_bases(outside: set[str]) -> str:
    """Kind of the instances of a class with these bases; "object" for one that is none of torch's."""
    for pattern, kind in BASE_KINDS:
        if any(re.match(pattern, name) for name in outside):
            return kind
    return "object"


@lru_cache(maxsize=16384)
def weak_kind(identifier: str) -> str:
    """What a conventional name suggests, "" if nothing."""
    for pattern, kind in WEAK_NAMES:
        if re.search(pattern, identifier):
            return kind
    return ""


def is_kind(kind: str, wanted: str) -> bool:
    """Whether a kind is the wanted one or a special case of it."""
    while kind:
        if kind == wanted:
            return True
        kind = PARENT_KIND.get(kind, "")
    return False
