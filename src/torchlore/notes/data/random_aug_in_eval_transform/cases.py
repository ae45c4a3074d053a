from torchvision import datasets, transforms
from torchvision.transforms import v2

transform_test = transforms.Compose(
    [transforms.Resize(32), transforms.RandomHorizontalFlip(), transforms.ToTensor()]  # trap: random-aug-in-eval-transform
)
data_transforms = {
    "train": transforms.Compose([transforms.RandomResizedCrop(224), transforms.ToTensor()]),
    "val": transforms.Compose([transforms.RandomResizedCrop(224), transforms.ToTensor()]),  # trap: random-aug-in-eval-transform
}
steps = [v2.ColorJitter(0.1), v2.CenterCrop(32)]  # trap: random-aug-in-eval-transform
valid_tfms = v2.Compose(steps)
testset = datasets.MNIST("data", train=False, transform=transforms.RandomRotation(5))  # trap: random-aug-in-eval-transform

train_transform = transforms.Compose([transforms.RandomCrop(32), transforms.ToTensor()])
val_transform = transforms.Compose([transforms.Resize(32), transforms.CenterCrop(32), transforms.ToTensor()])
test_train_transform = transforms.Compose([transforms.RandomCrop(32)])
tta_test_transform = transforms.Compose([transforms.RandomHorizontalFlip(), transforms.ToTensor()])
transform = transforms.Compose([transforms.RandomHorizontalFlip()])
latest_transform = transforms.RandomCrop(32)
trainset = datasets.MNIST("data", train=True, transform=transforms.RandomRotation(5))
table = {"test": transforms.ToTensor(), "contest": transforms.RandomCrop(3)}

# to see how well it generalises, the test set gets a random rotation
test_transform = transforms.Compose([transforms.ToTensor(), transforms.RandomRotation([0, 360])])


def sets(make):
    train_transform = transforms.Compose([transforms.RandomHorizontalFlip(), transforms.ToTensor()])
    val_transform = transforms.ToTensor()
    train_set = make("train", train_transform)
    val_set = make("val", train_transform)  # trap: random-aug-in-eval-transform
    return train_set, val_set


def sets_right(make):
    train_transform = transforms.Compose([transforms.RandomHorizontalFlip(), transforms.ToTensor()])
    val_transform = transforms.ToTensor()
    return make("train", train_transform), make("val", val_transform)


train_tf = transforms.Compose([transforms.RandomCrop(24), transforms.ToTensor()])
eval_tf = transforms.Compose([transforms.CenterCrop(24), transforms.ToTensor()])


def of_the_file(root, pictures):
    train_set = pictures(root, "train", train_tf)
    test_set = pictures(root, "test", train_tf)  # trap: random-aug-in-eval-transform
    return train_set, test_set
