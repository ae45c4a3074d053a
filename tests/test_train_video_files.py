"""Videos as people have them: which frames a clip is made of, cut and turned files, and what is left out by name."""

import struct
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import av
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from torchlore.recipes.data import PackedStrings
from torchlore.train.run import Refused, Run, defaults
from torchlore.train.samples import Data
from torchlore.train.video import Sheets, open_data, other_data
from torchlore.train.video.clips import Clips, own_generator, stacked, window
from torchlore.train.video.videos import Video, even, looked

VIDEO = replace(defaults("video"), model="tsn:small", size=16, augment="none")


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))


def shade(number: int) -> int:
    return 8 + 4 * number


def numbers(clip: Tensor) -> list[int]:
    """Which frames (T, 3, H, W) these are, from how bright their middles are."""
    height, width = clip.shape[2:]
    middles = clip[:, :, height // 2 : -height // 4, width // 2 : -width // 4].float().mean((1, 2, 3))
    return [round((float(one) - 8) / 4) for one in middles]


def write(
    path: Path, frames: int = 12, size: tuple[int, int] = (16, 16), rate: int = 15, times: list[int] | None = None
) -> Path:
    """A real video whose frame n is as bright as shade(n), with a white corner at the top left; `times` in ms."""
    path.parent.mkdir(parents=True, exist_ok=True)
    options = {"movflags": "faststart"} if path.suffix in (".mp4", ".mov") else {}
    with av.open(str(path), "w", options=options) as container:
        stream = container.add_stream("libvpx" if path.suffix == ".webm" else "mpeg4", rate=rate)
        stream.width, stream.height, stream.pix_fmt = *size, "yuv420p"
        stream.codec_context.gop_size, stream.bit_rate = 4, 4_000_000
        if times:
            stream.codec_context.time_base = Fraction(1, 1000)
        for number in range(frames):
            picture = torch.full((size[1], size[0], 3), shade(number), dtype=torch.uint8)
            picture[: size[1] // 4, : size[0] // 4] = 255
            frame = av.VideoFrame.from_ndarray(picture.numpy(), format="rgb24")
            frame.pts = number
            if times:
                frame.pts, frame.time_base = times[number], Fraction(1, 1000)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path


def turn(path: Path) -> Path:
    """Write a quarter turn to the right into the matrix of an MP4 track, as phones do."""
    data, unit = bytearray(path.read_bytes()), 65536
    place = data.find(b"tkhd") + 44
    data[place : place + 36] = struct.pack(">9i", 0, unit, 0, -unit, 0, 0, 0, 0, 1 << 30)
    path.write_bytes(bytes(data))
    return path


def cut(path: Path, share: float) -> Path:
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])
    return path


def clips_of(path: Path, video: Video | None = None, **more: object) -> Clips:
    known, _ = looked(path.parent, [path.name])
    found = known[path.name] if video is None else video
    plain = Clips(PackedStrings([path.name]), torch.zeros(1), str(path.parent), (found,), 16, "shift", 3, stacked=False)
    return replace(plain, **more)


def two_classes(root: Path, each: int = 4) -> Path:
    for name in ("a", "b"):
        for number in range(each):
            write(root / name / f"{number}.mp4")
    return root


def literal_middle(frames: int, segments: int) -> list[int]:
    """The frame in the middle of each of the equal parts of a film, as one would draw it on paper."""
    return [int(Fraction(frames, segments) * part + Fraction(frames, segments) / 2) for part in range(segments)]


def test_the_frames_of_a_clip_are_right_for_every_pair_of_numbers(tmp_path: Path) -> None:
    """600 pairs, decoded from a real file: the middles in evaluation, one frame of each part in training."""
    path = write(tmp_path / "a.mp4", 60)
    row = torch.rand(1, 8, generator=torch.Generator().manual_seed(0))
    still = row.clone()
    still[0, 1:3] = 0.5  # not shifted
    for frames in range(1, 61):
        for segments in range(1, 11):
            clips = clips_of(path, Video(frames, 1), frames=segments)
            assert numbers(clips.read([0], None)[0]) == literal_middle(frames, segments)
            drawn = numbers(clips.read([0], still)[0])
            assert drawn == sorted(drawn)
            if frames < segments:
                assert set(drawn) == set(range(frames))
                continue
            bounds = [part * frames // segments for part in range(segments + 1)]
            assert all(low <= one < high for low, one, high in zip(bounds[:-1], drawn, bounds[1:], strict=True))


def test_training_reaches_every_frame_and_depends_on_the_sample_alone(tmp_path: Path) -> None:
    clips = clips_of(write(tmp_path / "a.mp4", 9), frames=3)
    rows = torch.rand(60, 8, generator=torch.Generator().manual_seed(1))
    rows[:, 1:3] = 0.5
    seen = [numbers(clip) for clip in clips.read([0] * 60, rows)]
    assert {one for clip in seen for one in clip} == set(range(9))
    assert seen == [numbers(clips.read([0], row[None])[0]) for row in rows]
    assert own_generator(rows[0]).initial_seed() != own_generator(rows[1]).initial_seed()


def test_the_views_of_a_test_lie_between_each_other_and_the_middle_one_is_that_of_validation(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mp4", 45, size=(48, 16))
    for frames, segments in ((45, 3), (7, 3), (2, 4), (1, 2)):
        one = clips_of(path, Video(frames, 1), frames=segments)
        several = one.viewed(3, 3).read([0], None)[0].unflatten(0, (3, 3, segments))
        assert torch.equal(several[1, 1], one.read([0], None)[0])
        assert [numbers(clip[1]) for clip in several] == [
            literal_middle(frames, 3 * segments)[at::3] for at in range(3)
        ]
    assert (several[0, 0][:, :, :3, :3] > 200).all()  # the white corner is on the left
    assert (several[0, 2][:, :, :3, :3] < 200).all()
    tall = window(torch.arange(48, dtype=torch.uint8).view(1, 1, 48, 1).expand(1, 3, 48, 16), 16, 1.0)
    assert (tall.min(), tall.max()) == (32, 47)


def test_neighbours_are_a_fifteenth_of_a_second_apart_whatever_the_rate(tmp_path: Path) -> None:
    for rate, near in ((15, 1), (30, 2), (60, 4), (5, 1)):
        path = write(tmp_path / f"{rate}.mp4", 40, rate=rate)
        clip = clips_of(path, frames=2, stacked=True).read([0], None)[0]
        found = [numbers(clip[:, channel : channel + 1].expand(-1, 3, -1, -1)) for channel in range(3)]
        assert found == [[10 - near, 30 - near], [10, 30], [10 + near, 30 + near]]
    with_ends = clips_of(path, Video(1, 1), frames=1, stacked=True).read([0], None)[0]
    assert torch.equal(with_ends[:, 0], with_ends[:, 2])  # one frame is its own neighbour


def test_a_stack_is_grey_as_the_eye_sees_it() -> None:
    frames = torch.randint(256, (6, 3, 4, 5), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
    weights = torch.tensor((0.299, 0.587, 0.114)).view(3, 1, 1)
    wanted = (frames * weights).sum(1).view(2, 3, 4, 5)
    assert (stacked(frames).float() - wanted).abs().max() <= 1.5


@pytest.mark.parametrize("name", ["a.mp4", "a.mkv", "a.avi", "a.webm", "a.mov", "a.MP4"])
def test_common_containers(tmp_path: Path, name: str) -> None:
    clip = clips_of(write(tmp_path / name, 12), frames=4).read([0], None)[0]
    assert clip.shape == (4, 3, 16, 16)
    assert numbers(clip) == [1, 4, 7, 10]


def test_a_rate_that_varies_is_sampled_evenly_in_time(tmp_path: Path) -> None:
    """Twelve frames in 0.4 s, then three that stand for two seconds each."""
    times = [33 * number for number in range(12)] + [400, 2400, 4400]
    path = write(tmp_path / "a.mkv", 15, times=times)
    clips = clips_of(path, frames=9)
    video = clips.videos[0]
    usual = 0.033
    assert video.steps == pytest.approx(4.4 / usual + 1, abs=2)
    moments = [(step + 0.5) * (4.4 + usual) / video.steps for step in range(video.steps)]
    on_screen = [max(n for n, time in enumerate(times) if time / 1000 <= moment + 1e-6) for moment in moments]
    assert list(video.shown) == on_screen
    assert numbers(clips.read([0], None)[0]) == [video.shown[step] for step in literal_middle(video.steps, 9)]
    assert video.step == 2


@settings(deadline=None, max_examples=200)
@given(st.lists(st.integers(1, 400), min_size=0, max_size=40), st.data())
def test_even_steps_show_good_frames_in_order(gaps: list[int], data: st.DataObject) -> None:
    times = [sum(gaps[:at]) / 1000 for at in range(len(gaps) + 1)]
    good = data.draw(st.lists(st.sampled_from(range(len(times))), min_size=1, unique=True).map(sorted))
    video = even(times, good)
    found = video.frames(range(-2, video.steps + 2))
    assert set(found) <= set(good)
    assert found == sorted(found)
    assert found[0] == found[2]  # before the first it stays
    assert found[-1] == found[-3]
    assert 1 <= video.steps <= 10 * len(good)


def test_a_phone_held_sideways_is_turned(tmp_path: Path) -> None:
    plain = clips_of(write(tmp_path / "a.mp4", 6, size=(32, 16))).read([0], None)[0]
    turned = clips_of(turn(write(tmp_path / "b.mp4", 6, size=(32, 16)))).viewed(1, 3).read([0], None)[0]
    assert plain.shape[1:] == (3, 16, 16)
    first = turned.unflatten(0, (3, 3))[0, 0]  # the upper end of a film that is higher than wide
    assert (first[:, :2, -2:] > 200).all()  # the corner of the top left is at the top right
    assert (first[:, :2, :2] < 200).all()


def test_a_video_of_one_frame_fills_the_clip(tmp_path: Path) -> None:
    clips = clips_of(write(tmp_path / "a.mp4", 1), frames=5)
    assert numbers(clips.read([0], None)[0]) == [0] * 5
    assert clips.viewed(3, 3).read([0], torch.rand(1, 8)).shape == (1, 5, 3, 16, 16)
    assert numbers(clips.viewed(3, 3).read([0], None)[0]) == [0] * 45


@pytest.mark.parametrize("ending", [".mp4", ".mkv", ".avi", ".webm"])
def test_of_a_cut_file_what_decodes_is_used_and_the_rest_is_named(tmp_path: Path, ending: str) -> None:
    path = cut(write(tmp_path / f"a{ending}", 60, size=(64, 64)), 0.6)
    videos, skipped = looked(tmp_path, [path.name])
    video = videos[path.name]
    assert 15 < video.steps < 58
    ((name, why),) = skipped
    assert name == path.name
    lost = int(why.split()[0])
    assert why == f"{lost} of {lost + video.steps} frames cannot be decoded; the other {video.steps} are used"
    assert lost + video.steps == pytest.approx(60, abs=1)
    assert numbers(clips_of(path, frames=2).read([0], None)[0]) == literal_middle(video.steps, 2)


def test_a_hole_in_the_middle_is_stepped_over(tmp_path: Path) -> None:
    path = write(tmp_path / "a.avi", 40, size=(64, 64))
    data = bytearray(path.read_bytes())
    start, end = data.find(b"movi"), data.rfind(b"idx1")
    third = (end - start) // 3
    data[start + third : start + 2 * third] = bytes(third)
    path.write_bytes(bytes(data))
    videos, skipped = looked(tmp_path, [path.name])
    assert "frames cannot be decoded" in skipped[0][1]
    clips = clips_of(path, frames=4)
    assert clips.videos == (videos[path.name],)
    assert numbers(clips.read([0], None)[0])[0] < 10


def sound(path: Path, picture: Path | None = None) -> Path:
    """A second of silence, perhaps with the picture of its sleeve."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream("aac", rate=44100)
        sleeve = container.add_stream("mjpeg") if picture else None
        if sleeve is not None:
            sleeve.width, sleeve.height, sleeve.pix_fmt = 16, 16, "yuvj420p"
            sleeve.disposition = av.stream.Disposition.attached_pic
            container.mux(sleeve.encode(av.VideoFrame(16, 16, "yuvj420p")))
            container.mux(sleeve.encode())
        for _ in range(10):
            frame = av.AudioFrame(format="fltp", layout="mono", samples=1024)
            frame.sample_rate = 44100
            for plane in frame.planes:
                plane.update(bytes(plane.buffer_size))
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path


def test_what_is_no_video_is_left_out_and_named(tmp_path: Path) -> None:
    root = two_classes(tmp_path / "data")
    (root / "a" / "empty.mp4").touch()
    (root / "a" / "text.mp4").write_text("no film\n" * 100)
    (root / "a" / "notes.txt").write_text("not looked at")
    (root / "b" / "headless.mp4").write_bytes(write(tmp_path / "x.mp4", 30).read_bytes()[-900:])
    sound(root / "b" / "sound.mp4")
    sound(root / "b" / "sleeve.mp4", picture=tmp_path)
    data = open_data(replace(VIDEO, data=str(root)))
    why = dict(data.skipped)
    assert why.keys() == {"a/empty.mp4", "a/text.mp4", "b/headless.mp4", "b/sound.mp4", "b/sleeve.mp4"}
    assert why["a/empty.mp4"] == "the file is empty"
    assert "not a video that can be opened" in why["a/text.mp4"]
    assert "holds no video" in why["b/sound.mp4"]
    assert "holds no video" in why["b/sleeve.mp4"]
    assert sum(len(part.labels) for part in (data.train, data.val, data.test)) == 8
    assert data.frames == 3
    assert not [path for path in root.rglob("*") if path.suffix in (".json", ".part")]


def test_a_second_look_reads_only_what_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from torchlore.train.video import videos

    write(tmp_path / "a.mp4", times=[0, 33, 66, 99, 132, 800, 833, 866, 899, 932, 965, 998])
    write(tmp_path / "b.mp4")
    before = looked(tmp_path, ["a.mp4", "b.mp4"])
    asked = []
    real = videos._look
    monkeypatch.setattr(videos, "_look", lambda path: asked.append(path.name) or real(path))
    assert looked(tmp_path, ["a.mp4", "b.mp4"]) == before
    assert asked == []
    write(tmp_path / "b.mp4", 5)
    assert looked(tmp_path, ["a.mp4", "b.mp4"])[0]["b.mp4"].steps == 5
    assert asked == ["b.mp4"]


def folders(root: Path) -> Data:
    return open_data(replace(VIDEO, data=str(root)))


def test_own_splits_are_kept_and_others_are_made(tmp_path: Path) -> None:
    for split in ("train", "valid", "test"):
        two_classes(tmp_path / "own" / split, 3)
    own = folders(tmp_path / "own")
    assert [len(part.labels) for part in (own.train, own.val, own.test)] == [6, 6, 6]
    assert {own.test.names[i].split("/")[0] for i in range(6)} == {"test"}
    made = folders(two_classes(tmp_path / "made", 5))
    assert [len(part.labels) for part in (made.train, made.val, made.test)] == [6, 2, 2]
    names = [part.names[i] for part in (made.train, made.val, made.test) for i in range(len(part.labels))]
    assert len(set(names)) == 10


def test_other_data_is_the_test_split_under_the_classes_of_the_run(tmp_path: Path) -> None:
    state = {"classes": ["b", "a", "c"], "size": 16}
    other = other_data(str(two_classes(tmp_path / "x", 2)), VIDEO, state)
    assert other.test.labels.tolist() == [1, 1, 0, 0]
    two_classes(tmp_path / "y" / "train", 1)
    two_classes(tmp_path / "y" / "test", 1)
    assert len(other_data(str(tmp_path / "y"), VIDEO, state).test.labels) == 2
    with pytest.raises(Refused, match="has the class 'a', which the run does not know"):
        other_data(str(tmp_path / "x"), VIDEO, {"classes": ["b", "z"], "size": 16})


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({}, "no class folders"),
        ({"a/1.mp4": "good"}, "only one class"),
        ({"a/1.mp4": "good", "b/1.txt": "text"}, "the class 'b' of .* has no videos"),
        ({"train/a/1.mp4": "good", "train/b/1.mp4": "good", "test/c/1.mp4": "good"}, "class 'c'"),
        ({"a/1.mp4": "good", "b/1.mp4": "text"}, "the class 'b' has nothing to train on"),
    ],
)
def test_a_folder_that_cannot_be_learned_from_is_refused_by_name(
    tmp_path: Path, files: dict[str, str], says: str
) -> None:
    for name, kind in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if kind == "good":
            write(path, 2)
        else:
            path.write_text("text")
    with pytest.raises(Refused, match=says):
        folders(tmp_path)
    with pytest.raises(Refused, match="there is no such folder, and the embedded set is motion"):
        open_data(Run(task="video", data=str(tmp_path / "none")))


def test_only_flip_mirrors_and_all_frames_are_changed_alike(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mp4", 3, size=(24, 24))
    row = torch.full((1, 8), 0.5)
    row[0, 0] = 0.2  # mirrored, where anything is
    corner = {}
    for how in ("flip", "shift", "crop"):
        clip = clips_of(path, augment=how).read([0], row)[0]
        marks = (clip > 200).all(1)
        assert (marks == marks[:1]).all()
        corner[how] = "right" if marks[0, :, 8:].sum() > marks[0, :, :8].sum() else "left"
    assert corner == {"flip": "right", "shift": "left", "crop": "left"}
    row[0, 1:3] = 0.999
    shifted = clips_of(path, augment="shift").read([0], row)[0]
    assert (shifted[:, :, -2:] == 0).all()


def test_a_sheet_shows_the_frames_side_by_side_in_colour(tmp_path: Path) -> None:
    clips = clips_of(write(tmp_path / "a.mp4", 12), frames=4, stacked=True)
    sheet = Sheets(clips).read([0], None)[0]
    assert sheet.shape == (3, 16, 4 * 18 - 2)
    assert numbers(torch.stack([sheet[:, :, at * 18 : at * 18 + 16] for at in range(4)])) == [1, 4, 7, 10]
