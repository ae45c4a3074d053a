"""What the documents wrote about reading a video's properties."""

from torchlore.catalogue import Erratum

ERRATA = (
    Erratum(
        id="E069",
        where="003:300",
        written="fps = int(video.get(cv2.CAP_PROP_FPS))",
        proof="print(int(29.97))",
        happens="29",
        instead="Keep the float: `fps = video.get(cv2.CAP_PROP_FPS)`.",
    ),
    Erratum(
        id="E070",
        where="003:295-301",
        written="video = cv2.VideoCapture(mp4_path)",
        proof=(
            "import cv2\nvideo = cv2.VideoCapture('/nowhere/clip.mp4')\n"
            "print(video.isOpened(), video.get(cv2.CAP_PROP_FRAME_COUNT) <= 0)"
        ),
        happens="False True",
        instead="`if not video.isOpened(): raise FileNotFoundError(mp4_path)`; nothing else says that it failed.",
    ),
)
