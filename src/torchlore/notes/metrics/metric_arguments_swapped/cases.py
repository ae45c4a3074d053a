import numpy as np
from sklearn import metrics
from sklearn.metrics import accuracy_score, confusion_matrix, r2_score, roc_auc_score
from torchmetrics.classification import MulticlassAccuracy


def bad(all_preds: np.ndarray, all_labels: np.ndarray, scores: np.ndarray, targets: np.ndarray) -> None:
    print(confusion_matrix(all_preds, all_labels))  # trap: metric-arguments-swapped
    print(metrics.roc_auc_score(scores, targets))  # trap: metric-arguments-swapped
    print(r2_score(np.concatenate(all_preds), np.concatenate(all_labels)))  # trap: metric-arguments-swapped


def fine(all_preds: np.ndarray, all_labels: np.ndarray, a: np.ndarray, b: np.ndarray) -> None:
    print(confusion_matrix(all_labels, all_preds))
    print(accuracy_score(all_preds, all_labels))
    print(roc_auc_score(a, b))
    print(metrics.precision_score(y_pred=all_preds, y_true=all_labels))
    print(r2_score(all_labels, all_preds), metrics.log_loss(a, all_labels))


def of_torchmetrics(pred_y: np.ndarray, true_y: np.ndarray, labels: np.ndarray) -> None:
    accuracy = MulticlassAccuracy(num_classes=3)
    accuracy(true_y, pred_y)  # trap: metric-arguments-swapped
    accuracy.update(labels, pred_y)  # trap: metric-arguments-swapped
    accuracy(pred_y, true_y)
    accuracy.update(pred_y, labels)
    print(accuracy.compute())
