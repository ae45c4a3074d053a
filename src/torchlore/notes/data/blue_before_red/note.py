"""OpenCV hands out blue, green, red: a network that learned on RGB sees a sunset as a sea.

`cv2.imread` and `VideoCapture.read` give BGR. Nothing tells it from RGB: the shape is the same, the values too, and the mean of ImageNet is taken
off the wrong channels. A pretrained network loses some points of accuracy, a fine-tuned one learns the exchange and loses them again where
pictures come from PIL. Plots look blue.

Turn it once, where it is read: `cv2.cvtColor(image, cv2.COLOR_BGR2RGB)`, or `cv2.imread(path, cv2.IMREAD_COLOR_RGB)`.
"""

ROWS = ()
SOURCES = (
    "https://github.com/avilash/pytorch-siamese-triplet/issues/9",
    "https://github.com/amirlivne/PD-L1_predictor/issues/2",
)
TORCH = "2.11, 2.15"
NEEDS = ("cv2",)
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["red"] < 0
    assert good["red"] > 0
