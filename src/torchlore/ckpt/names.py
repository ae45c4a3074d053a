"""Which names a checkpoint may import: a list of what is harmless, a list of what is not, and the rest is unknown.

A list of forbidden names alone always misses one. So the standard library is dangerous unless a name is listed as
harmless, torch and NumPy functions that are *called* are dangerous unless listed, and other packages are unknown.
"""

from __future__ import annotations

import re
import sys
from enum import StrEnum


class Verdict(StrEnum):
    """What is known about a name: harmless, not known, or able to run code, touch files or eat memory."""

    ALLOWED = "allowed"
    UNKNOWN = "unknown"
    DANGEROUS = "dangerous"

    @property
    def rank(self) -> int:
        """0 for allowed, so that the largest is the worst."""
        return list(Verdict).index(self)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_DTYPES = """float16 float32 float64 bfloat16 half float double uint8 uint16 uint32 uint64 int8 int16 int32 int64 short
int long bool complex32 complex64 complex128 cfloat cdouble chalf qint8 quint8 qint32 quint4x2 quint2x4 bits8 bits16
bits1x8 bits2x4 bits4x2 float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz float8_e8m0fnu float4_e2m1fn_x2 int1
int2 int3 int4 int5 int6 int7 uint1 uint2 uint3 uint4 uint5 uint6 uint7"""
_STORAGES = """FloatStorage DoubleStorage HalfStorage BFloat16Storage LongStorage IntStorage ShortStorage CharStorage
ByteStorage BoolStorage ComplexFloatStorage ComplexDoubleStorage QUInt8Storage QInt8Storage QInt32Storage
QUInt4x2Storage QUInt2x4Storage UntypedStorage TypedStorage"""
_TENSORS = """Tensor FloatTensor DoubleTensor HalfTensor BFloat16Tensor LongTensor IntTensor ShortTensor CharTensor
ByteTensor BoolTensor"""

ALLOWED: dict[str, frozenset[str]] = {
    "builtins": _words("set frozenset bytearray bytes complex list dict tuple int float str bool object slice range"),
    "collections": _words("OrderedDict Counter defaultdict deque"),
    "_codecs": _words("encode"),
    "copyreg": _words("_reconstructor __newobj__ __newobj_ex__"),
    "datetime": _words("datetime date time timedelta timezone"),
    "decimal": _words("Decimal"),
    "fractions": _words("Fraction"),
    "uuid": _words("UUID SafeUUID"),
    "pathlib": _words("Path PurePath PosixPath WindowsPath PurePosixPath PureWindowsPath"),
    "pathlib._local": _words("Path PurePath PosixPath WindowsPath PurePosixPath PureWindowsPath"),
    "argparse": _words("Namespace"),
    "types": _words("SimpleNamespace"),
    "random": _words("Random"),
    "re": _words("_compile"),
    "array": _words("array _array_reconstructor"),
    "_io": _words("BytesIO StringIO"),
    "io": _words("BytesIO StringIO"),
    "functools": _words("partial"),  # judged by what it holds; to call it is dangerous
    "logging": _words("getLogger"),
    "torch": _words(
        f"""{_DTYPES} {_STORAGES} {_TENSORS} Size device Generator strided sparse_coo sparse_csr sparse_csc sparse_bsr
        sparse_bsc per_tensor_affine per_tensor_symmetric per_channel_affine per_channel_symmetric
        per_channel_affine_float_qparams contiguous_format channels_last preserve_format relu sigmoid tanh"""
    ),
    "torch.cuda": _words(f"{_STORAGES} {_TENSORS}"),
    "torch._C": _words("Generator"),
    "torch.storage": _words("UntypedStorage TypedStorage _load_from_bytes _UntypedStorage _TypedStorage"),
    "torch._utils": _words(
        """_rebuild_tensor _rebuild_tensor_v2 _rebuild_tensor_v3 _rebuild_parameter _rebuild_parameter_with_state
        _rebuild_qtensor _rebuild_sparse_tensor _rebuild_sparse_csr_tensor _rebuild_nested_tensor _rebuild_xla_tensor
        _rebuild_meta_tensor_no_storage _rebuild_wrapper_subclass _rebuild_device_tensor_from_numpy
        _rebuild_device_tensor_from_cpu_tensor"""
    ),
    "torch._tensor": _words("_rebuild_from_type _rebuild_from_type_v2"),
    "torch.serialization": _words("_get_layout"),
    "torch.nn.parameter": _words("Parameter Buffer UninitializedParameter UninitializedBuffer"),
    "torch.nn.backends.thnn": _words("_get_thnn_function_backend"),  # whole models of torch 0.4 to 1.2
    "torch.torch_version": _words("TorchVersion"),
    "torch.jit._pickle": _words(
        "build_intlist build_tensorlist build_doublelist build_boollist build_tensor_from_id restore_type_tag"
    ),
    "torch.distributed.checkpoint.filesystem": _words("_StorageInfo _StoragePrefix"),
    "torch.distributed.checkpoint.metadata": _words("_MEM_FORMAT_ENCODING"),
    "numpy": _words(
        """dtype ndarray matrix float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool_ bool
        complex64 complex128 str_ bytes_ datetime64 timedelta64 longlong ulonglong intc uintc longdouble"""
    ),
    "numpy.core.multiarray": _words("_reconstruct scalar"),
    "numpy._core.multiarray": _words("_reconstruct scalar"),
    "numpy.core.numeric": _words("_frombuffer"),
    "numpy._core.numeric": _words("_frombuffer"),
    "numpy.ma.core": _words("_mareconstruct MaskedArray"),
    "numpy.random": _words("__RandomState_ctor"),
    "numpy.random._pickle": _words("__randomstate_ctor __generator_ctor __bit_generator_ctor"),
    "numpy.random._mt19937": _words("MT19937 __randomstate_ctor"),
    "numpy.random._pcg64": _words("PCG64 PCG64DXSM"),
    "numpy.random.bit_generator": _words("SeedSequence __pyx_unpickle_SeedSequence"),
    "numpy.dtypes": _words("StringDType Float32DType Float64DType Int64DType"),
    "joblib.numpy_pickle": _words("NumpyArrayWrapper"),
    "scipy.sparse": _words("csr_matrix csc_matrix coo_matrix"),
    "scipy.sparse._csr": _words("csr_matrix csr_array"),
    "scipy.sparse._csc": _words("csc_matrix csc_array"),
    "lightning.fabric.utilities.data": _words("AttributeDict"),
    "lightning_fabric.utilities.data": _words("AttributeDict"),
    "lightning.pytorch.utilities.parsing": _words("AttributeDict"),
    "pytorch_lightning.utilities.parsing": _words("AttributeDict"),
    "pytorch_lightning.callbacks.model_checkpoint": _words("ModelCheckpoint"),  # a key in checkpoints of 1.x
    "pytorch_lightning.callbacks.early_stopping": _words("EarlyStopping"),
    "omegaconf.dictconfig": _words("DictConfig"),
    "omegaconf.listconfig": _words("ListConfig"),
    "omegaconf.base": _words("ContainerMetadata Metadata"),
    "omegaconf.nodes": _words("AnyNode StringNode IntegerNode FloatNode BooleanNode"),
}

# Classes only: a capital, no dot (a dot walks from a module to whatever it has imported).
_CLASS_FAMILIES = re.compile(
    r"""torch\.(
        nn\.(modules|qat|quantized|intrinsic|quantizable)\. | nn\.parallel\. | optim\. | optim$ |
        amp\.grad_scaler | cuda\.amp\.grad_scaler | distributed\.checkpoint\.metadata | distributed\.tensor |
        distributed\._tensor | distributed\.device_mesh | distributed\._shard\. | ao\.nn\. | _dynamo\.eval_frame |
        nested\._internal\. | nn\.utils\.(parametrizations|parametrize|weight_norm|spectral_norm)
    )""",
    re.VERBOSE,
)
_CLASS_NAME = re.compile(r"_?[A-Z]\w*\Z", re.ASCII)
_REFERENCES = re.compile(  # activations and initialisers that modules keep; harmless until called
    r"torch\.nn\.(functional|init)\.\w+\Z|torch\._C\._nn\.\w+\Z|torch\.nn\.activation\.\w+\Z", re.ASCII
)
_DANGEROUS_PACKAGES = _words(
    """pip setuptools pkg_resources distutils _distutils_hack test idlelib lib2to3 imp asyncore smtpd nt posix commands
    __builtin__ cloudpickle dill pytest _pytest IPython ipykernel jupyter_core invoke fabric paramiko pexpect sh plumbum
    psutil requests urllib2 httplib httpx aiohttp urllib3 websocket boto3 webbrowser popen2 pty cffi
    pyximport Cython asyncssh twisted celery uvloop xmlrpclib thread wheel virtualenv uv
    ptyprocess win32api win32com jinja2 mako jsonpickle klepto"""
)
_DANGEROUS_NAMES = re.compile(
    r"""torch\.(
        hub\.|utils\.cpp_extension|utils\.model_zoo|utils\.collect_env|utils\._config_module|utils\.data\.datapipes|
        utils\.bottleneck|utils\.show_pickle|
        load\Z|save\Z|jit\.(load|_script|script|CompilationUnit|_serialization|unsupported|annotate)|serialization\.(load|save|_load|_save|_legacy)|
        fx\.(graph_module|_symbolic_trace|experimental)|package\.|_inductor\.|_dynamo\.(guards|output_graph|backends|debug_utils|repro)|
        distributed\.(run|launch|launcher|elastic|rpc)|_C\.(_jit|import_ir|PyTorchFileWriter|PyTorchFileReader)|
        ops\.load_library|_ops\.|_ops\Z|classes\.load_library|testing\.|export\.(load|save)|compiler\.|from_file\Z|
        cuda\._compile_kernel|_appdirs|_vendor|multiprocessing\.|_export\.|onnx\.|profiler\.|
        contrib\.|backends\.|cuda\.(memory|_memory_viz|jiterator)|library\.|sys|os\Z|types\Z
    )
    |numpy\.(
        load|loads|loadtxt|save|savez|savetxt|genfromtxt|fromfile|memmap|fromregex|DataSource|distutils|f2py|testing|
        lib\.(npyio|_npyio_impl|format|_datasource|_format_impl)|ctypeslib|compat\.py3k|vectorize|frompyfunc|
        core\._internal|_core\._internal|core\.memmap|_core\.memmap|core\.records\.fromfile|apply_along_axis|fromfunction|piecewise|
        array_api|_pytesttester|__config__
    )
    |joblib\.(numpy_pickle\.(load|dump|_unpickle)|load|dump|memory|externals|_parallel_backends|parallel|_store_backends)
    |pandas\.(io|eval|read_|core\.computation|core\.generic|util|compat)
    |yaml\.(\w+_load|load|Loader|UnsafeLoader|constructor)|fsspec\.(core|open|registry)
    |sklearn\.(datasets|utils\.(_testing|_show_versions|fixes))
    |scipy\.(io|weave|_lib\.(_testutils|uarray|_ccallback))
    |(torch|numpy|torchvision|transformers|timm|lightning|pytorch_lightning|scipy|pandas|sklearn)(\.\w+)*\.(
        os|sys|subprocess|shutil|pickle|builtins|importlib|ctypes|socket|runpy|inspect|tempfile|io|glob|types|code|
        __builtins__|__import__|__loader__|__dict__|__globals__|eval|exec|compile|system|popen|run|Popen|open|getattr
    )\Z""",
    re.VERBOSE,
)
_KNOWN_LIBRARIES = _words("torch numpy scipy torchvision torchaudio")


def judge(module: str, name: str) -> tuple[Verdict, str]:
    """What is known about importing `module.name`, and the reason in a few words."""
    if name in ALLOWED.get(module, ()):
        return Verdict.ALLOWED, ""
    danger = _danger(module, name)
    if danger:
        return Verdict.DANGEROUS, danger
    if (_CLASS_FAMILIES.match(module) and _CLASS_NAME.match(name)) or _REFERENCES.match(f"{module}.{name}"):
        return Verdict.ALLOWED, ""
    return (
        Verdict.UNKNOWN,
        f"its code comes from the package {module.split('.', maxsplit=1)[0]} on the machine that loads it",
    )


def _danger(module: str, name: str) -> str:
    root, parts = module.split(".", maxsplit=1)[0], name.split(".")
    walked = [part for part in parts[:-1] if part in sys.stdlib_module_names]
    walked += [part for part in parts if part.startswith("__")]
    is_error = root == "builtins" and name.endswith(("Error", "Warning", "Exception"))
    for reason, found in (
        ("the name is made by a call, so that no reader sees it", "?" in (module, name)),
        (f"it walks through {''.join(walked[:1])} to something else", walked),
        ("it can run code or touch files, and no checkpoint needs it", root in _DANGEROUS_PACKAGES),
        ("it can run code or touch files, and no checkpoint needs it", _DANGEROUS_NAMES.match(f"{module}.{name}")),
        (
            "it belongs to Python's standard library and no checkpoint needs it",
            root in sys.stdlib_module_names and root != "typing" and not is_error,
        ),
        (
            f"it fetches the module {name} through another one",
            name in sys.stdlib_module_names and name not in _COMMON_WORDS,
        ),
    ):
        if found:
            return reason
    return ""


_COMMON_WORDS = {"code", "test", "statistics", "token", "queue", "types", "selectors", "platform", "this", "profile"}


def judge_call(module: str, name: str) -> tuple[Verdict, str]:
    """What is known about calling `module.name` while the checkpoint is loaded."""
    verdict, reason = judge(module, name)
    if verdict is Verdict.DANGEROUS or name in ALLOWED.get(module, ()):
        return verdict, reason
    is_class = bool(_CLASS_NAME.match(name.rsplit(".", maxsplit=1)[-1]))
    if module.split(".", maxsplit=1)[0] in _KNOWN_LIBRARIES and not is_class:
        return Verdict.DANGEROUS, "it is a function that would be called, and no checkpoint needs that"
    return verdict, reason
