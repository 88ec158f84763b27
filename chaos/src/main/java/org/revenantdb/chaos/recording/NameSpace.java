package org.revenantdb.chaos.recording;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.disk.DiskImage;

/**
 * The shadow of the tree of names: which name leads to which node.
 *
 * <p>It changes only after the real name has changed, and under {@link #lock}, so a name means the
 * same to both. A directory that moves takes along what is below it, because only its own entry
 * moves.
 *
 * <p>Threads: whoever holds the lock. Order of locks: this one before that of a file.
 */
final class NameSpace {

  private final ReentrantLock lock = new ReentrantLock();
  private final Node root = new Node(DiskImage.ROOT, true, lock);
  private int next = DiskImage.ROOT + 1;

  ReentrantLock lock() {
    return lock;
  }

  Node root() {
    return root;
  }

  /** Takes over all names of an image, and its numbers. */
  void load(DiskImage image) {
    next = image.nextNode();
    load(image, root, new HashMap<>());
  }

  private void load(DiskImage image, Node directory, Map<Integer, Node> known) {
    for (Map.Entry<String, Integer> entry : image.entries(directory.number()).entrySet()) {
      Node node =
          known.computeIfAbsent(
              entry.getValue(), number -> node(number, image.isDirectory(number)));
      enter(directory, entry.getKey(), node);
      if (node.isDirectory()) {
        load(image, node, known);
      }
    }
  }

  /** A node with a number of its own and no name. */
  Node create(boolean directory) {
    return node(next++, directory);
  }

  private Node node(int number, boolean directory) {
    return new Node(number, directory, directory ? lock : new ReentrantLock());
  }

  /** Follows names from the root; null if one of them leads nowhere. */
  @Nullable Node find(List<String> names) {
    Node node = root;
    for (String name : names) {
      node = node.entries().get(name);
      if (node == null) {
        return null;
      }
    }
    return node;
  }

  /** The directory that the last name is or would be in; null if there is none. */
  @Nullable Node parent(List<String> names) {
    Node parent = names.isEmpty() ? null : find(names.subList(0, names.size() - 1));
    return parent != null && parent.isDirectory() ? parent : null;
  }

  /** A name leads to a node now; returns what it led to before. */
  @Nullable Node enter(Node parent, String name, Node node) {
    node.named(parent, name);
    return parent.entries().put(name, node);
  }

  void leave(Node parent, String name) {
    parent.entries().remove(name);
  }
}
