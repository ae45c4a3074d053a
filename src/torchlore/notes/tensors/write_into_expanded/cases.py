"""Other spellings of write-into-expanded, and code that only looks like it."""
import torch

row = torch.zeros(1, 4)
wide = row.expand(3, 4)
wide[0, 1] = 1.0  # trap: write-into-expanded
wide[1] += 1.0  # trap: write-into-expanded
torch.ones(4).expand(2, 4)[0, 0] = 5.0  # trap: write-into-expanded
both = torch.broadcast_to(row, (3, 4))
both[:, 0] = 2.0  # trap: write-into-expanded

# clean
own = row.expand(3, 4).clone()
own[0, 1] = 1.0
tiled = row.repeat(3, 1)
tiled[0, 1] = 1.0
print(wide[0, 1])
wide = torch.zeros(3, 4)
wide[0, 1] = 1.0


class Tree:
    def expand(self, node):
        self.children = [node]
        return self.children


Tree().expand(1)[0] = 2
