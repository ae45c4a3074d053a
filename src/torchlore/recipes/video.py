"""Videos through a real decoder (PyAV), and which frames of them to look at."""

from __future__ import annotations

import bisect
from dataclasses import dataclass, field
from itertools import pairwise
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import torch

from torchlore.recipes import _wants

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence
    from fractions import Fraction

SUFFIXES = (
    *(".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi", ".mpg", ".mpeg", ".ts", ".mts", ".m2ts"),
    *(".wmv", ".asf", ".flv", ".f4v", ".3gp", ".3g2", ".ogv", ".vob", ".mxf", ".y4m", ".h264", ".hevc"),
)
NO_VIDEO = {"tty", "lrc", "srt", "ass", "webvtt"}  # demuxers that make a film of any text file


class BrokenVideoError(ValueError):
    """A file that gives no video, or too few frames; the text names the file and the reason."""


@dataclass(frozen=True)
class VideoInfo:
    """What a video file holds, counted and not believed."""

    path: Path
    width: int  # as shown: a phone's turned video is turned here
    height: int
    frames: int  # packets in the file, whatever its header says
    fps: float  # 29.97 is not 29; the mean rate where it varies
    seconds: float
    rotation: int  # counter-clockwise degrees, already applied to width and height
    codec: str
    variable: bool  # whether the time between frames varies by more than half of itself
    times: tuple[float, ...] = field(repr=False)  # when each frame is shown, from 0


@dataclass(frozen=True)
class _Table:
    """When each frame is shown, in the stream's ticks, and from which of them decoding can start."""

    shown: list[int]
    starts: list[int]


def _path(function: str, path: str | os.PathLike[str]) -> Path:
    _wants.path(function, path=path)
    return Path(path)


def _open(path: Path) -> Any:
    import av

    if not path.is_file():
        raise FileNotFoundError(f"there is no video {path}")
    try:
        # names of tracks and authors come in any encoding; none of them is needed
        container = av.open(str(path), metadata_errors="replace")
    except (OSError, ValueError) as error:  # every FFmpegError is one of the two
        raise BrokenVideoError(f"{path} is not a video that can be opened: {error}") from error
    films = [one for one in container.streams.video if not one.disposition & av.stream.Disposition.attached_pic]
    if not films or container.format.name in NO_VIDEO:  # the picture on a record's sleeve is no film
        kind = container.format.long_name
        container.close()
        raise BrokenVideoError(f"{path} holds no video ({kind})")
    stream = container.streams.video[0]
    stream.thread_count = 1  # a loader has its own workers
    return container


def _table(container: Any) -> _Table:
    import av

    shown, starts = [], []
    try:
        for packet in container.demux(container.streams.video[0]):
            if packet.pts is None or packet.is_discard:
                continue
            shown.append(packet.pts)
            if packet.is_keyframe:
                starts.append(packet.pts)
    except (av.FFmpegError, OSError, ValueError):
        pass  # a cut file ends here; what came before is counted
    return _Table(sorted(shown), sorted(starts))


def probe(path: str | os.PathLike[str]) -> VideoInfo:
    """Read what a video holds: the size as shown, every frame's time, the true rate and count.

    Opens the file once, walks its packets (not decoding them) and decodes one frame.

    Args:
        path: The file.

    Returns:
        The facts.

    >>> path = _example(frames=6, fps=30)
    >>> info = probe(path); info.frames, info.fps, (info.height, info.width)
    (6, 30.0, (48, 64))
    """
    path = _path("probe", path)
    with _open(path) as container:
        stream = container.streams.video[0]
        table = _table(container)
        rotation = _rotation(path)
        times = [float((pts - table.shown[0]) * stream.time_base) for pts in table.shown] if table.shown else []
        if not times:  # a raw stream without times
            times = [number / float(stream.guessed_rate or 25) for number in range(_count(path))]
        sizes = (stream.width, stream.height)
        width, height = sizes if rotation % 180 == 0 else sizes[::-1]
        fps = _rate(times, stream.average_rate)
        gaps = [later - earlier for earlier, later in pairwise(times)]
        return VideoInfo(
            path=path,
            width=width,
            height=height,
            frames=len(times),
            fps=fps,
            seconds=times[-1] + (1 / fps if fps else 0.0),
            rotation=rotation,
            codec=stream.codec_context.name,
            variable=bool(gaps) and max(gaps) > 1.5 * min(gaps),
            times=tuple(times),
        )


def _rate(times: list[float], declared: Fraction | None) -> float:
    if declared:
        return float(declared)
    return (len(times) - 1) / times[-1] if len(times) > 1 and times[-1] > 0 else 0.0


def _rotation(path: Path) -> int:
    """Which only a decoded frame tells."""
    with _open(path) as container:
        for frame in _decoded(container):
            return int(frame.rotation)
    raise BrokenVideoError(f"{path} has a video stream of which no frame can be decoded")


def _count(path: Path) -> int:
    with _open(path) as container:
        return sum(1 for _ in _decoded(container))


def _decoded(container: Any) -> Iterator[Any]:
    """All frames that decode; a damaged packet costs its own frame only."""
    import av

    stream = container.streams.video[0]
    packets = container.demux(stream)
    while True:
        try:
            packet = next(packets)
            frames = packet.decode()
        except StopIteration:
            return
        except av.InvalidDataError:
            continue
        except (av.FFmpegError, OSError):
            return
        yield from (frame for frame in frames if not frame.is_corrupt)


@dataclass(frozen=True)
class Readable:
    """Which frames of a video can be decoded."""

    frames: tuple[int, ...]  # their numbers in order; all of the size of the first
    promised: int  # how many the file says it has


def readable(path: str | os.PathLike[str]) -> Readable:
    """Decode a whole video once and say which of its frames can be read, to know a cut or damaged file before using it.

    Args:
        path: The file.

    Returns:
        The numbers of the frames that decode, as `read_frames` takes them, and how many there should be.

    >>> found = readable(_example(frames=6)); found.frames, found.promised
    ((0, 1, 2, 3, 4, 5), 6)
    """
    path = _path("readable", path)
    with _open(path) as container:
        table, promised = _table(container), _promised(container)
    number = {pts: index for index, pts in enumerate(table.shown)}
    timed = bool(number) and len(number) == len(table.shown)
    sizes: dict[int, tuple[int, int]] = {}
    with _open(path) as container:
        for count, frame in enumerate(_decoded(container)):
            sizes[number.get(frame.pts, -1) if timed else count] = (frame.width, frame.height)
    sizes.pop(-1, None)
    good = tuple(index for index in sorted(sizes) if sizes[index] == sizes[min(sizes)])
    return Readable(good, max(promised, len(table.shown), len(good)))


def _promised(container: Any) -> int:
    """How many frames the header speaks of; 0 where it does not, or speaks of the sound too."""
    stream = container.streams.video[0]
    if stream.frames or len(container.streams) > 1:
        return int(stream.frames)
    counted = container.format.name.startswith("matroska") and container.duration and stream.average_rate
    return int(container.duration * stream.average_rate / 1_000_000) if counted else 0


class _Converter:
    """Frames to RGB tensors. One scaler for all of them: `frame.to_ndarray` makes a new one each time, 40 times slower."""

    def __init__(self, side: int) -> None:
        import av
        from av.video.reformatter import Interpolation, VideoReformatter

        self.scaler, self.side = VideoReformatter(), side
        self.plain: dict[str, Any] = {}
        self.smaller: dict[str, Any] = {}
        if int(av.__version__.split(".")[0]) >= 18:
            # threads for a small frame cost ten times its scaling; without whole colours it comes out 2 of 255 darker
            self.plain = {"threads": 1}
            self.smaller = self.plain | {"interpolation": Interpolation.BILINEAR | Interpolation.FULL_CHR_H_INT}

    def __call__(self, frame: Any) -> torch.Tensor:
        sizes = frame.width, frame.height
        wanted = self._size(*sizes)
        how = self.plain if wanted == sizes else self.smaller
        picture = torch.from_numpy(self.scaler.reformat(frame, *wanted, format="rgb24", **how).to_ndarray())
        turns = round(frame.rotation / 90) % 4
        return (torch.rot90(picture, turns, (0, 1)) if turns else picture).permute(2, 0, 1)

    def _size(self, wide: int, tall: int) -> tuple[int, int]:
        short = min(wide, tall)
        if not 0 < self.side < short:
            return wide, tall
        return round(wide * self.side / short), round(tall * self.side / short)


def read_frames(
    path: str | os.PathLike[str], indices: Sequence[int], *, short: Literal["raise", "repeat"] = "raise", side: int = 0
) -> torch.Tensor:
    """Read frames by their number, in the order of the indices and as often as they occur there.

    Seeks to the key frame before each wanted one and decodes from there, so a few frames of a long video cost a few
    short runs. The numbers count frames as shown, also where the time between them varies.

    Args:
        path: The file.
        indices: Numbers from 0; negative ones count from the end.
        short: What to do about a frame that cannot be decoded, as at the end of a cut file: raise, or give the
            nearest one before it.
        side: Shrink frames whose short side is longer to this short side as they are decoded; 0 leaves them.

    Returns:
        uint8 RGB of shape (T, 3, H, W), turned as the file says.

    >>> read_frames(_example(frames=6), [0, 5, 5]).shape
    torch.Size([3, 3, 48, 64])
    """
    path = _path("read_frames", path)
    _wants.one_of("read_frames", "short", short, ("raise", "repeat"))
    _wants.whole("read_frames", 0, side=side)
    numbers = _wants.several("read_frames", object, "a whole number", indices=indices)
    for place, index in enumerate(numbers):
        _wants.whole("read_frames", **{f"indices[{place}]": index})
    if not numbers:
        raise ValueError("read_frames: indices is empty; name at least one frame.")
    with _open(path) as container:
        table = _table(container)
        timed = bool(table.shown) and len(set(table.shown)) == len(table.shown)
        count = len(table.shown) if timed else _count(path)
        wanted = [int(index) + count if index < 0 else int(index) for index in numbers]
        if min(wanted) < 0 or max(wanted) >= count:
            odd = max(numbers) if max(wanted) >= count else min(numbers)
            raise IndexError(f"read_frames: indices hold {odd}, but {path} has {count} frames.")
        convert = _Converter(side)
        found = (
            _read_by_seeking(container, path, table, set(wanted), convert)
            if timed
            else _read_in_order(path, set(wanted), convert)
        )
    lost = sorted(set(wanted) - found.keys())
    if lost and short == "raise":
        raise BrokenVideoError(f"frame {lost[0]} of {path} cannot be decoded ({len(lost)} of the wanted ones)")
    return torch.stack([_nearest(path, found, index, convert) for index in wanted])


def _nearest(path: Path, found: dict[int, torch.Tensor], index: int, convert: _Converter) -> torch.Tensor:
    if index in found:
        return found[index]
    before = [one for one in found if one < index]
    if before and max(before) == index - 1:
        return found[max(before)]
    everything = _read_in_order(path, set(range(index + 1)), convert)
    good = [one for one in everything if one <= index] or list(everything)
    if not good:
        raise BrokenVideoError(f"no frame of {path} can be decoded")
    return everything[max(good)]


def _read_in_order(path: Path, wanted: set[int], convert: _Converter) -> dict[int, torch.Tensor]:
    """Decode from the start, counting; for streams without usable times."""
    found = {}
    with _open(path) as container:
        for count, frame in enumerate(_decoded(container)):
            if count in wanted:
                found[count] = convert(frame)
            if count >= max(wanted):
                break
    return found


def _read_by_seeking(
    container: Any, path: Path, table: _Table, wanted: set[int], convert: _Converter
) -> dict[int, torch.Tensor]:
    import av

    number = {pts: index for index, pts in enumerate(table.shown)}
    groups: dict[int, set[int]] = {}
    for index in wanted:
        place = bisect.bisect_right(table.starts, table.shown[index]) - 1
        groups.setdefault(table.starts[max(place, 0)] if table.starts else table.shown[0], set()).add(index)
    found: dict[int, torch.Tensor] = {}
    for start in sorted(groups):
        try:
            container.seek(start, stream=container.streams.video[0])
        except (av.FFmpegError, OSError):
            continue  # a container without an index: the run from the start below finds them
        found |= _run(container, groups[start], number, convert)
    missing = wanted - found.keys()
    if missing:  # a seek that landed behind them, or frames that are broken
        with _open(path) as again:
            found |= _run(again, missing, number, convert)
    return found


def _run(container: Any, wanted: set[int], number: dict[int, int], convert: _Converter) -> dict[int, torch.Tensor]:
    """Decode on until the last wanted frame has passed."""
    found, last = {}, max(wanted)
    for frame in _decoded(container):
        index = number.get(frame.pts, -1)
        if index in wanted:
            found[index] = convert(frame)
        if index >= last:
            break
    return found


def segment_indices(frames: int, segments: int, generator: torch.Generator | None = None) -> list[int]:
    """Choose one frame of each of several equal parts of a video (TSN sampling).

    Right for every pair of numbers: in range, in order, the parts cover the whole video and differ by at most one
    frame. A video with fewer frames than parts gives each frame at least once.

    Args:
        frames: How many frames the video has.
        segments: How many to choose.
        generator: Draw a random frame of each part, for training; without one the middle frame is taken, for tests.

    Returns:
        The numbers of the frames.

    >>> segment_indices(15, 8)
    [0, 2, 4, 6, 8, 10, 12, 14]
    >>> segment_indices(3, 8)
    [0, 0, 0, 1, 1, 2, 2, 2]
    >>> segment_indices(15, 3, torch.Generator().manual_seed(0))
    [4, 9, 13]
    """
    _wants.whole("segment_indices", 1, frames=frames, segments=segments)
    _check_generator("segment_indices", generator)
    if generator is None:
        return [(2 * part + 1) * frames // (2 * segments) for part in range(segments)]
    if frames < segments:
        extra = torch.randint(frames, (segments - frames,), generator=generator)
        return sorted([*range(frames), *extra.tolist()])
    bounds = [part * frames // segments for part in range(segments + 1)]
    return [low + int(torch.randint(high - low, (), generator=generator)) for low, high in pairwise(bounds)]


def clip_indices(
    frames: int, length: int, stride: int = 1, clips: int = 1, generator: torch.Generator | None = None
) -> list[list[int]]:
    """Choose clips of neighbouring frames.

    Args:
        frames: How many frames the video has.
        length: How many frames a clip has.
        stride: The step from one frame of a clip to the next.
        clips: How many clips.
        generator: Start each clip at random, for training; without one they are spread evenly, for tests: one in
            the middle, several from the first to the last possible start.

    Returns:
        The numbers of the frames of each clip; behind the end of a short video its last frame is repeated.

    >>> clip_indices(10, length=4, stride=2)
    [[1, 3, 5, 7]]
    >>> clip_indices(2, length=4)
    [[0, 1, 1, 1]]
    """
    _wants.whole("clip_indices", 1, frames=frames, length=length, stride=stride, clips=clips)
    _check_generator("clip_indices", generator)
    room = max(frames - (length - 1) * stride - 1, 0)
    if generator is not None:
        starts = torch.randint(room + 1, (clips,), generator=generator).tolist()
    elif clips == 1:
        starts = [room // 2]
    else:
        starts = [part * room // (clips - 1) for part in range(clips)]
    return [[min(start + step * stride, frames - 1) for step in range(length)] for start in starts]


def _check_generator(function: str, generator: torch.Generator | None) -> None:
    _wants.kind(function, (torch.Generator, type(None)), "a torch.Generator or None", generator=generator)


def indices_at(times: Sequence[float], seconds: Sequence[float]) -> list[int]:
    """Give the frame that is on the screen at each time, for videos whose rate varies.

    Args:
        times: When each frame is shown, as `probe(path).times`.
        seconds: Times from 0; behind the end the last frame stays.

    >>> indices_at([0.0, 0.1, 0.9], [0.0, 0.5, 2.0])
    [0, 1, 2]
    """
    shown = _wants.several("indices_at", Real, "a number", times=times)
    if not shown or shown != sorted(shown):
        raise ValueError(_wants.message("indices_at", "times", times, "rising, and not empty"))
    wanted = _wants.several("indices_at", Real, "a number", seconds=seconds)
    for place, moment in enumerate(wanted):
        _wants.from_0("indices_at", **{f"seconds[{place}]": moment})
    return [max(bisect.bisect_right(shown, moment + 1e-9) - 1, 0) for moment in wanted]


def _example(frames: int, fps: int = 30) -> Path:
    """Write a tiny video for the examples above."""
    import tempfile

    import av

    path = Path(tempfile.mkdtemp()) / "example.mp4"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mpeg4", rate=fps)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for number in range(frames):
            picture = torch.full((48, 64, 3), 20 * number, dtype=torch.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture.numpy(), format="rgb24")))
        container.mux(stream.encode())
    return path
