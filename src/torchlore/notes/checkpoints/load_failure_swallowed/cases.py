import logging

import torch


def silent(model, path):
    try:
        model.load_state_dict(torch.load(path, map_location="cpu"))  # trap: load-failure-swallowed
    except:  # noqa: E722
        pass


def right(model, path, backup):
    try:
        model.load_state_dict(torch.load(path, map_location="cpu"))
    except FileNotFoundError:
        logging.info("from scratch")
    try:
        model.load_state_dict(torch.load(path, map_location="cpu"))
    except RuntimeError:
        model.load_state_dict(torch.load(backup, map_location="cpu"))
    try:
        model.load_state_dict(torch.load(path, map_location="cpu"))
    except Exception as error:
        raise SystemExit(str(error)) from error
