"""Segments for video sampling must reach the last frame: bounds are i*n/K, not i*(n//K).

TSN cuts a clip of `n` frames into `K` segments and takes one frame of each: a random one to train, the middle one to
test. The listing that is copied around makes every segment `n // K` long, so the tail is never drawn: with 15 frames
and 8 segments it sees frames 0 to 7 only. Its test branch divides with `/` and returns floats that cannot index, and
for short clips (`K > 2n`) it returns frames that do not exist. No frames at all stop it with an error about `random_`.

Take real-valued bounds: segment `i` runs from `i*n/K` to `(i+1)*n/K`. The frame is `floor` of a random point in it, or
of its middle; in range for every `n >= 1`, sorted, and the whole clip is covered. Short clips repeat frames evenly.
`torchlore.recipes.video.segment_indices(n, K)` does it, with a generator for training.
"""

ROWS = ("video-tsn-train", "video-tsn-eval")
SOURCES = ("003:303-326",)
TORCH = "2.11, 2.15"
NEEDS = ()


def claim() -> None:
    import torch

    def literal_train(n: int, k: int) -> torch.Tensor:
        if n > k:
            return torch.randint(n // k, (k,)) + n // k * torch.arange(k)
        return torch.cat((torch.arange(n), torch.randint(n, (k - n,)))).sort().values

    def literal_test(n: int, k: int) -> torch.Tensor:
        if n > k:
            return n / k // 2 + n // k * torch.arange(k)
        return torch.cat((torch.arange(n), torch.arange(k - n))).sort().values

    torch.manual_seed(0)
    assert max(int(literal_train(15, 8).max()) for _ in range(200)) == 7  # frames 8 to 14 are never drawn
    assert literal_test(40, 8).is_floating_point()
    assert literal_test(15, 8).tolist() == list(range(8))
    assert int(literal_test(3, 8).max()) == 4  # of three frames

    from torchlore.recipes.video import segment_indices

    for n in (*range(1, 20), 31, 300):
        for k in (1, 3, 8, 16):
            middle = segment_indices(n, k)
            drawn = segment_indices(n, k, generator=torch.Generator().manual_seed(n))
            for frames in (middle, drawn):
                assert len(frames) == k
                assert frames == sorted(frames)
                assert 0 <= frames[0] <= frames[-1] < n
    assert segment_indices(15, 8) == [0, 2, 4, 6, 8, 10, 12, 14]
    generator = torch.Generator().manual_seed(0)
    seen = {i for _ in range(200) for i in segment_indices(15, 8, generator=generator)}
    assert seen == set(range(15))
