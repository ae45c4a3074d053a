"""What the documents wrote about sampling frames of a clip."""

from torchlore.catalogue import Erratum

_TRAIN = """
def train(num_frames, K):
    if num_frames > K:
        frame_indices = torch.randint(high=num_frames // K, size=(K,), dtype=torch.long)
        frame_indices += num_frames // K * torch.arange(K)
    else:
        frame_indices = torch.randint(high=num_frames, size=(K - num_frames,), dtype=torch.long)
        frame_indices = torch.sort(torch.cat((torch.arange(num_frames), frame_indices)))[0]
    return frame_indices
"""
_TEST = """
def test(num_frames, K):
    if num_frames > K:
        frame_indices = num_frames / K // 2
        frame_indices += num_frames // K * torch.arange(K)
    else:
        frame_indices = torch.sort(torch.cat((torch.arange(num_frames), torch.arange(K - num_frames))))[0]
    return frame_indices
"""

ERRATA = (
    Erratum(
        id="E024",
        where="003:305-326",
        written="return [frame_indices[i] for i in range(K)]",
        proof='compile("K = 3\\nreturn [i for i in range(K)]", "003", "exec")',
        happens="SyntaxError: 'return' outside function",
        instead="It is the body of a method: write it as a function of `num_frames` and `K`.",
    ),
    Erratum(
        id="E025",
        where="003:309-316",
        written="frame_indices = torch.randint(high=num_frames, size=(K - num_frames,))",
        proof=_TRAIN + "train(0, 8)",
        happens="RuntimeError: random_ expects 'from' to be less than 'to'",
        instead="Say that a clip needs at least one frame.",
    ),
    Erratum(
        id="E026",
        where="003:320",
        written="frame_indices = num_frames / K // 2",
        proof=_TEST + "frames = list(range(40))\nframes[test(40, 8)[0]]",
        happens="TypeError",
        instead="Stay with integers: `num_frames // K // 2`; better, the middles of real-valued bounds, rounded down.",
    ),
    Erratum(
        id="E050",
        where="003:311",
        written="frame_indices += num_frames // K * torch.arange(K)",
        proof=_TRAIN + "print(max(train(15, 8).max().item() for _ in range(500)), 'of', 14)",
        happens="7 of 14",
        instead="Bounds `i * n / K` reach the last frame.",
    ),
    Erratum(
        id="E051",
        where="003:320-321",
        written="# Middle index for each segment.",
        proof=_TEST + "print([int(i) for i in test(15, 8)])",
        happens="[0, 1, 2, 3, 4, 5, 6, 7]",
        instead="The middles of eight segments of 15 frames are 0, 2, 4, 6, 8, 10, 12, 14.",
    ),
    Erratum(
        id="E052",
        where="003:323-324",
        written="torch.cat((torch.arange(num_frames), torch.arange(K - num_frames)))",
        proof=_TEST + "print(test(3, 8).tolist())",
        happens="[0, 0, 1, 1, 2, 2, 3, 4]",
        instead="Frames 3 and 4 of a clip of three: repeat by `arange(K) * n // K`.",
    ),
)
