import torch

from engine.model.propagation import initial_prototypes


def test_a_prototype_is_the_mean_over_the_class_s_images() -> None:
    """Eq. 3 by hand, with an image that counts for two classes and a class without images."""
    embeddings = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 0.0]])
    image_positions, class_positions = torch.tensor([0, 1, 1]), torch.tensor([0, 0, 1])
    vectors, exists = initial_prototypes(embeddings, image_positions, class_positions, 3)
    # class 0: ((1, 2) + (3, 4)) / 2 = (2, 3); class 1: (3, 4); class 2: nothing
    torch.testing.assert_close(vectors, torch.tensor([[2.0, 3.0], [3.0, 4.0], [0.0, 0.0]]))
    assert exists.tolist() == [True, True, False]


def test_a_repeated_pair_counts_twice() -> None:
    """The mean is over pairs: whoever gives a pair twice weighs that image twice."""
    embeddings = torch.tensor([[0.0], [3.0]])
    vectors, _ = initial_prototypes(embeddings, torch.tensor([0, 1, 1]), torch.tensor([0, 0, 0]), 1)
    assert vectors.item() == 2.0  # (0 + 3 + 3) / 3


def test_no_images_at_all_give_no_prototypes() -> None:
    """An empty project has classes and no prototype."""
    nothing = torch.zeros(0, dtype=torch.int64)
    vectors, exists = initial_prototypes(torch.zeros(0, 4), nothing, nothing, 2)
    assert vectors.shape == (2, 4)
    assert not vectors.any()
    assert not exists.any()


def test_an_image_s_gradient_is_shared_over_its_class() -> None:
    """Each of k images moves the mean by 1 / k; an unused image by nothing."""
    embeddings = torch.zeros(3, 2, requires_grad=True)
    vectors, _ = initial_prototypes(embeddings, torch.tensor([0, 1]), torch.tensor([0, 0]), 2)
    torch.autograd.backward(vectors.sum())
    assert embeddings.grad is not None
    assert embeddings.grad.tolist() == [[0.5, 0.5], [0.5, 0.5], [0.0, 0.0]]
