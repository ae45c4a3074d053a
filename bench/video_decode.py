"""PyAV, which `recipes.video` uses, against torchcodec: the time to read the frames of a clip, and odd files.

`python bench/video_decode.py` makes the videos itself. Without torchcodec (`pip install torchcodec`, which also needs
the system's FFmpeg libraries) only PyAV is measured. Both use one thread, as in a loader's worker.
"""

import argparse
import importlib.util
import statistics
import struct
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import torch

from torchlore.recipes import video

FILMS = {  # width, height, frames, frames between key frames
    "24 x 24, 24 frames": (24, 24, 24, 12),
    "340 x 256, 10 s": (340, 256, 300, 250),
    "640 x 360, 10 s, key frame every 12": (640, 360, 300, 12),
    "1280 x 720, 2 s": (1280, 720, 60, 250),
}


def write(path: Path, size: tuple[int, int], frames: int, gap: int, times: Sequence[int] = (), **metadata: str) -> Path:
    """A noisy gradient that moves, as H.264; `times` in milliseconds where the rate varies."""
    wide, tall = size
    noise = np.random.default_rng(0).integers(0, 24, (tall, wide + frames, 3), dtype=np.uint8)
    slope = (np.arange(wide + frames) * 200 // (wide + frames)).astype(np.uint8)[None, :, None]
    with av.open(str(path), "w", options={"movflags": "faststart"} if path.suffix == ".mp4" else {}) as container:
        container.metadata.update(metadata)
        stream = container.add_stream("libx264", rate=30)
        stream.width, stream.height, stream.pix_fmt = wide, tall, "yuv420p"
        stream.codec_context.gop_size = gap
        stream.codec_context.time_base = Fraction(1, 1000)
        for number in range(frames):
            frame = av.VideoFrame.from_ndarray((noise + slope)[:, number : number + wide].copy(), format="rgb24")
            frame.pts, frame.time_base = times[number] if times else number * 1000 // 30, Fraction(1, 1000)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path


def with_pyav(path: Path, wanted: list[int]) -> torch.Tensor:
    """As training reads."""
    return video.read_frames(path, wanted, short="repeat")


def with_torchcodec(path: Path, wanted: list[int]) -> torch.Tensor:
    """The same frames."""
    from torchcodec.decoders import VideoDecoder

    return VideoDecoder(str(path), num_ffmpeg_threads=1).get_frames_at(wanted).data


def milliseconds(read: Callable[[], object], repeats: int) -> float:
    """The median CPU time: that of a machine with other work is the same."""
    read()
    taken = []
    for _ in range(repeats):
        begun = time.process_time()
        read()
        taken.append(time.process_time() - begun)
    return statistics.median(taken) * 1000


def odd_files(folder: Path) -> dict[str, Path]:
    """Files that real folders hold."""
    whole = write(folder / "whole.mp4", (64, 48), 40, 10)
    cut = folder / "cut.mp4"
    cut.write_bytes(whole.read_bytes()[: whole.stat().st_size * 6 // 10])
    (folder / "empty.mp4").touch()
    (folder / "text.mp4").write_text("this is no video\n" * 50)
    varying = [number * 33 if number < 20 else 660 + (number - 20) * 200 for number in range(40)]
    turned = bytearray(write(folder / "turned.mp4", (64, 48), 4, 10).read_bytes())
    place = turned.find(b"tkhd") + 44  # the track's matrix: a quarter turn, as phones write it
    turned[place : place + 36] = struct.pack(">9i", 0, 65536, 0, -65536, 0, 0, 0, 0, 1 << 30)
    (folder / "turned.mp4").write_bytes(turned)
    return {
        "turned": folder / "turned.mp4",
        "one frame": write(folder / "one.mp4", (64, 48), 1, 10),
        "the rate varies": write(folder / "varies.mp4", (64, 48), 40, 10, varying),
        "cut at 60 %": cut,
        "empty": folder / "empty.mp4",
        "not a video": folder / "text.mp4",
    }


def said(read: Callable[[Path, list[int]], torch.Tensor], path: Path) -> str:
    """What a reader makes of the first and the last frame of a file."""
    try:
        frames = read(path, [0, -1])
    except (RuntimeError, ValueError, IndexError, OSError) as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0][:60]}"
    return f"{tuple(frames.shape)}"


def main() -> int:
    """Both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--frames", type=int, default=8, help="frames of a clip")
    parser.add_argument("--repeats", type=int, default=7)
    args = parser.parse_args()
    torch.set_num_threads(1)
    readers = {f"PyAV {av.__version__}": with_pyav}
    if importlib.util.find_spec("torchcodec") is not None:
        import torchcodec

        readers[f"torchcodec {torchcodec.__version__}"] = with_torchcodec
    with tempfile.TemporaryDirectory() as folder:
        print(f"{args.frames} frames spread over a video, CPU ms (median of {args.repeats}): {', '.join(readers)}")
        for name, (wide, tall, frames, gap) in FILMS.items():
            path = write(Path(folder) / "a.mp4", (wide, tall), frames, gap)
            wanted = video.segment_indices(frames, args.frames)
            taken = [milliseconds(lambda r=r, p=path, w=wanted: r(p, w), args.repeats) for r in readers.values()]
            print(f"  {name:38}" + "".join(f"{one:10.1f}" for one in taken), flush=True)
        print("the first and the last frame of odd files")
        for name, path in odd_files(Path(folder)).items():
            print(f"  {name:18}" + "   ".join(f"{said(read, path):45}" for read in readers.values()), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
