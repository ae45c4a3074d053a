import struct
from fractions import Fraction
from itertools import pairwise

import av
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from torchlore.recipes import video


def shade(number):
    return 8 + 5 * (number % 48)


def write(path, frames=30, rate=30, codec="mpeg4", times=None, gop=12, size=(64, 48), **metadata):
    """A film whose frame n has the grey value shade(n) and a white left half of its top row of blocks."""
    with av.open(str(path), "w") as container:
        container.metadata.update(metadata)
        stream = container.add_stream(codec, rate=rate)
        stream.width, stream.height, stream.pix_fmt = *size, "yuv420p"
        stream.codec_context.gop_size, stream.bit_rate = gop, 8_000_000
        stream.codec_context.time_base = Fraction(1, 90_000) if times else 1 / Fraction(rate)
        for number in range(frames):
            array = np.full((size[1], size[0], 3), shade(number), np.uint8)
            array[:16, : size[0] // 2] = 255
            frame = av.VideoFrame.from_ndarray(array, format="rgb24")
            if times:
                frame.pts, frame.time_base = round(times[number] * 90_000), Fraction(1, 90_000)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path


def read_numbers(frames):
    """Which frame it was, from the grey value of its lower half."""
    grey = frames[:, :, frames.shape[2] // 2 + 8 :].float().mean((1, 2, 3))
    return [round((value.item() - 8) / 5) for value in grey]


@pytest.mark.parametrize("name", ["a.mp4", "a.mkv", "a.avi"])
def test_facts_and_frames_of_common_containers(tmp_path, name):
    path = write(tmp_path / name, rate=Fraction(30_000, 1001))
    info = video.probe(path)
    assert (info.width, info.height, info.frames) == (64, 48, 30)
    assert info.fps == pytest.approx(29.97, abs=0.01)
    assert info.seconds == pytest.approx(30 / 29.97, abs=0.05)
    assert not info.variable
    wanted = [0, 29, 7, 7, -1, 12, 13]
    assert read_numbers(video.read_frames(path, wanted)) == [0, 29, 7, 7, 29, 12, 13]


@pytest.mark.parametrize(("codec", "gop"), [("mpeg4", 1), ("mpeg4", 300), ("libx264", 10), ("mpeg2video", 7)])
def test_seeking_gives_the_frames_that_reading_on_gives(tmp_path, codec, gop):
    path = write(tmp_path / "a.mp4", 48, codec=codec, gop=gop)
    found = video.read_frames(path, range(48))
    assert read_numbers(found) == list(range(48))
    with av.open(str(path)) as container:
        slow = [torch.from_numpy(one.to_ndarray(format="rgb24")).permute(2, 0, 1) for one in container.decode(video=0)]
    assert torch.equal(found, torch.stack(slow))
    for index in (0, 1, 9, 10, 11, 30, 46, 47):
        assert torch.equal(video.read_frames(path, [index])[0], found[index])


def test_colours_are_rgb_in_this_order(tmp_path):
    with av.open(str(tmp_path / "a.mp4"), "w") as container:
        stream = container.add_stream("mpeg4", rate=10)
        stream.width, stream.height, stream.pix_fmt = 32, 32, "yuv420p"
        array = np.zeros((32, 32, 3), np.uint8)
        array[..., 0] = 220
        container.mux(stream.encode(av.VideoFrame.from_ndarray(array, format="rgb24")))
        container.mux(stream.encode())
    red, green, blue = video.read_frames(tmp_path / "a.mp4", [0])[0].float().mean((1, 2)).tolist()
    assert red > 200
    assert green < 40
    assert blue < 40


def test_a_video_of_one_frame(tmp_path):
    path = write(tmp_path / "a.mp4", 1)
    info = video.probe(path)
    assert (info.frames, info.variable) == (1, False)
    assert video.read_frames(path, video.segment_indices(info.frames, 4)).shape == (4, 3, 48, 64)
    assert video.read_frames(path, video.clip_indices(info.frames, 8)[0]).shape == (8, 3, 48, 64)


def turn(path, degrees):
    """Write a rotation into the matrix of an MP4 track, as phones do."""
    data = bytearray(path.read_bytes())
    place = data.find(b"tkhd") + 4 + 4 + 20 + 8 + 8  # version and flags, times and ids, reserved, layer and volume
    unit = 65536
    matrix = {90: (0, unit, -unit, 0), 180: (-unit, 0, 0, -unit), 270: (0, -unit, unit, 0)}[degrees]
    values = [matrix[0], matrix[1], 0, matrix[2], matrix[3], 0, 0, 0, 1 << 30]
    data[place : place + 36] = struct.pack(">9i", *values)
    path.write_bytes(bytes(data))
    return path


@pytest.mark.parametrize(("degrees", "corner"), [(90, "top right"), (180, "bottom right"), (270, "bottom left")])
def test_a_phone_held_sideways(tmp_path, degrees, corner):
    """The white block of the top left goes where a player, which turns clockwise by the angle, shows it."""
    path = turn(write(tmp_path / "a.mp4", 3), degrees)
    info = video.probe(path)
    assert (info.width, info.height) == ((64, 48) if degrees == 180 else (48, 64))
    frame = video.read_frames(path, [1])[0].float().mean(0)
    height, width = frame.shape
    assert (width, height) == (info.width, info.height)
    rows = slice(0, 8) if "top" in corner else slice(height - 8, height)
    columns = slice(0, 8) if "left" in corner else slice(width - 8, width)
    assert frame[rows, columns].mean() > 240
    assert frame[height // 2, width // 2] < 100


def test_a_rate_that_varies(tmp_path):
    times = [0.0, 0.04, 0.08, 0.5, 0.54, 1.5, 1.54]
    path = write(tmp_path / "a.mkv", 7, times=times, codec="libx264")
    info = video.probe(path)
    assert info.variable
    assert info.frames == 7
    assert list(info.times) == pytest.approx(times, abs=0.002)
    assert video.indices_at(info.times, [0.0, 0.3, 0.52, 1.4, 9.0]) == [0, 2, 3, 4, 6]
    assert read_numbers(video.read_frames(path, [3, 5, 6])) == [3, 5, 6]


def test_a_cut_file_gives_what_it_has(tmp_path):
    path = write(tmp_path / "a.mkv", 60)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    info = video.probe(path)
    assert 5 < info.frames < 60
    last = info.frames - 1
    numbers = read_numbers(video.read_frames(path, [0, last - 3, last], short="repeat"))
    assert numbers[:2] == [0, last - 3]
    assert last - 2 <= numbers[2] <= last
    with pytest.raises(IndexError, match="indices hold 59"):
        video.read_frames(path, [59])


def test_frames_that_do_not_decode_are_named_or_repeated(tmp_path):
    path = write(tmp_path / "a.mp4", 30, gop=1)
    data = bytearray(path.read_bytes())
    start = data.find(b"mdat") + 4
    size = struct.unpack(">I", data[start - 8 : start - 4])[0] - 8
    tail = start + size * 2 // 3
    data[tail : start + size] = bytes(start + size - tail)
    path.write_bytes(bytes(data))
    assert video.probe(path).frames == 30
    with pytest.raises(video.BrokenVideoError, match=r"frame 29 of .*a\.mp4 cannot be decoded"):
        video.read_frames(path, [0, 29])
    found = video.read_frames(path, [0, 10, 29], short="repeat")
    numbers = read_numbers(found)
    assert numbers[:2] == [0, 10]
    assert 15 <= numbers[2] < 29
    with pytest.raises(ValueError, match="short is"):
        video.read_frames(path, [0], short="skip")


@pytest.mark.parametrize("size", [(64, 48), (48, 64), (200, 100)])
def test_frames_are_made_smaller_as_they_are_decoded(tmp_path, size):
    path = write(tmp_path / "a.mp4", 6, size=size)
    whole, small = (video.read_frames(path, [0, 3, 5], side=side) for side in (0, 24))
    assert min(small.shape[2:]) == 24
    assert torch.equal(video.read_frames(path, [0, 3, 5], side=1000), whole)
    wanted = torch.nn.functional.interpolate(whole, small.shape[2:], mode="bilinear", antialias=True)
    away = (small.float() - wanted.float()).abs()
    assert away.mean() < 2
    assert abs(small.float().mean() - wanted.float().mean()) < 0.7  # neither darker nor brighter


def test_which_frames_can_be_read(tmp_path):
    whole = write(tmp_path / "a.mkv", 60)
    assert video.readable(whole) == video.Readable(tuple(range(60)), 60)
    (tmp_path / "b.mkv").write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    found = video.readable(tmp_path / "b.mkv")
    assert 5 < len(found.frames) < 60
    assert found.promised == pytest.approx(60, abs=1)
    assert len(video.read_frames(tmp_path / "b.mkv", found.frames)) == len(found.frames)  # none of them raises


def test_metadata_in_another_encoding(tmp_path):
    path = write(tmp_path / "a.mkv", 3, title="PLACEHOLDER")
    data = path.read_bytes()
    assert b"PLACEHOLDER" in data
    path.write_bytes(data.replace(b"PLACEHOLDER", b"\xb0\xc5\xc4\xe3\xba\xc3\xff\xfe\xe9\xe8\xe0"))
    assert video.probe(path).frames == 3
    assert video.read_frames(path, [2]).shape == (1, 3, 48, 64)


@pytest.mark.parametrize("content", [b"", b"hello world\n" * 200, b"\0" * 5000, b"RIFF\0\0\0\0AVI "])
@pytest.mark.parametrize("name", ["x.mp4", "x.txt"])
def test_what_is_no_video_is_an_error(tmp_path, content, name):
    (tmp_path / name).write_bytes(content)
    for call in (video.probe, lambda path: video.read_frames(path, [0])):
        with pytest.raises(video.BrokenVideoError, match=name):
            call(tmp_path / name)
    with pytest.raises(FileNotFoundError, match="no video"):
        video.probe(tmp_path / "absent.mp4")


def test_a_sound_file_is_no_video(tmp_path):
    with av.open(str(tmp_path / "a.wav"), "w") as container:
        stream = container.add_stream("pcm_s16le", rate=8000, layout="mono")
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 800), np.int16), format="s16", layout="mono")
        frame.sample_rate = 8000
        container.mux(stream.encode(frame))
    with pytest.raises(video.BrokenVideoError, match="holds no video"):
        video.probe(tmp_path / "a.wav")


def test_a_raw_stream_without_times(tmp_path):
    path = write(tmp_path / "a.m4v", 20)
    assert video.probe(path).frames == 20
    assert read_numbers(video.read_frames(path, [19, 3])) == [19, 3]


@pytest.mark.parametrize("indices", [[], [30], [-31]])
def test_bad_indices_are_errors(tmp_path, indices):
    path = write(tmp_path / "a.mp4")
    with pytest.raises((ValueError, IndexError), match=r"empty|has 30 frames"):
        video.read_frames(path, indices)


@given(st.integers(1, 200), st.integers(1, 64), st.integers(0, 2**31))
@settings(deadline=None, max_examples=400)
def test_segments_are_right_for_every_pair_of_numbers(frames, segments, seed):
    for generator in (None, torch.Generator().manual_seed(seed)):
        found = video.segment_indices(frames, segments, generator)
        assert len(found) == segments
        assert all(type(index) is int for index in found)
        assert found == sorted(found)
        assert found[0] >= 0
        assert found[-1] < frames
        if frames >= segments:
            assert len(set(found)) == segments
            for part, index in enumerate(found):
                assert part * frames // segments <= index < -(-(part + 1) * frames // segments)
        else:
            assert set(found) == set(range(frames))


@given(st.integers(1, 60), st.integers(1, 12))
@settings(deadline=None, max_examples=60)
def test_training_reaches_every_frame(frames, segments):
    generator = torch.Generator().manual_seed(0)
    seen = set()
    for _ in range(40 * (frames // segments + 1)):
        seen |= set(video.segment_indices(frames, segments, generator))
    assert seen == set(range(frames))


def test_test_segments_are_those_of_the_original_tsn():
    for frames in range(1, 80):
        for segments in range(1, 20):
            tick = frames / segments
            wanted = [int(tick / 2.0 + tick * part + 1e-9) for part in range(segments)]
            assert video.segment_indices(frames, segments) == wanted


@given(st.integers(1, 100), st.integers(1, 20), st.integers(1, 5), st.integers(1, 5), st.integers(0, 99))
@settings(deadline=None, max_examples=200)
def test_clips_are_in_range_and_evenly_spaced(frames, length, stride, clips, seed):
    for generator in (None, torch.Generator().manual_seed(seed)):
        found = video.clip_indices(frames, length, stride, clips, generator)
        assert len(found) == clips
        for clip in found:
            assert len(clip) == length
            assert all(0 <= index < frames for index in clip)
            steps = {b - a for a, b in pairwise(clip)}
            if (length - 1) * stride < frames:
                assert steps <= {stride}
            else:
                assert clip[0] == 0
    if (length - 1) * stride < frames and clips > 1:
        spread = video.clip_indices(frames, length, stride, clips)
        assert spread[0][0] == 0
        assert spread[-1][-1] == frames - 1


@pytest.mark.parametrize(
    "call",
    [
        lambda: video.segment_indices(0, 3),
        lambda: video.segment_indices(3, 0),
        lambda: video.clip_indices(0, 3),
        lambda: video.clip_indices(3, 3, stride=0),
        lambda: video.indices_at([], [0.0]),
        lambda: video.indices_at([0.0], [-1.0]),
    ],
)
def test_counts_must_be_positive(call):
    with pytest.raises(ValueError, match=r"must|empty"):
        call()
