package org.revenantdb.chaos.recording;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.disk.DiskImage;

/**
 * The shadow of the tree of names: it maps each name to its node.
 *
 * <p>It changes only after the real name has changed, and under {@link #lock}, so both agree. When
 * a directory moves, only its own entry changes; everything below it moves along.
 *
 * <p>Threads: the holder of the lock. Order of locks: this one before that of a file.
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

  /** Creates a node with a new number and without a name. */
  Node create(boolean directory) {
    return node(next++, directory);
  }

  private Node node(int number, boolean directory) {
    return new Node(number, directory, directory ? lock : new ReentrantLock());
  }

  /** The node at the end of a path; null if one of the names does not exist. */
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

  /** The directory of the last name; null if it does not exist. */
  @Nullable Node parent(List<String> names) {
    Node parent = names.isEmpty() ? null : find(names.subList(0, names.size() - 1));
    return parent != null && parent.isDirectory() ? parent : null;
  }

  /** Lets a name lead to a node; returns the node that it led to before. */
  @Nullable Node enter(Node parent, String name, Node node) {
    node.named(parent, name);
    return parent.entries().put(name, node);
  }

  void leave(Node parent, String name) {
    parent.entries().remove(name);
  }
}
