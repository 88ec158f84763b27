package org.revenantdb.chaos.hooks;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The names below the directory under test, and the files they refer to, as far as the record has
 * them.
 *
 * <p>Threads: under the lock of the {@link Journal}.
 */
final class Names {

  private final Node root = new Node(1, /* isDirectory= */ true);
  private long last = 1;

  /** A file or directory. It stays the same when it is renamed, and lives on without a name. */
  static final class Node {

    private final long number;
    private final boolean isDirectory;
    private final Map<String, Node> entries = new HashMap<>();

    /** Of a directory, which has one name at most; null for the root and for one without a name. */
    private @Nullable Node parent;

    private String name = "";
    private long size;

    private Node(long number, boolean isDirectory) {
      this.number = number;
      this.isDirectory = isDirectory;
    }

    long number() {
      return number;
    }

    boolean isDirectory() {
      return isDirectory;
    }

    long size() {
      return size;
    }

    void size(long now) {
      size = now;
    }
  }

  Node root() {
    return root;
  }

  /**
   * Looks up a path.
   *
   * @param path relative to the directory, with slashes; empty: the directory itself
   * @return null if there is none
   */
  @Nullable Node find(String path) {
    Node at = root;
    if (!path.isEmpty()) {
      for (String name : path.split("/", -1)) {
        at = at == null ? null : at.entries.get(name);
      }
    }
    return at;
  }

  /**
   * Returns where a directory is now.
   *
   * @param directory may have been renamed or deleted since it was found
   * @return its path relative to the root; null if it has no name any more
   */
  @Nullable String path(Node directory) {
    String path = "";
    Node at = directory;
    for (Node above = at.parent; above != null; above = at.parent) {
      path = path.isEmpty() ? at.name : at.name + "/" + path;
      at = above;
    }
    return at.number == root.number ? path : null;
  }

  /** Creates what a path names. Nothing happens to the record if its parent is unknown. */
  Node create(String path, boolean isDirectory) {
    Node made = new Node(++last, isDirectory);
    put(path, made);
    return made;
  }

  /** Lets a path name a file. */
  void put(String path, Node node) {
    Node parent = find(parent(path));
    if (parent != null) {
      String name = name(path);
      Node replaced = parent.entries.put(name, node);
      if (replaced != null) {
        replaced.parent = null;
      }
      if (node.isDirectory) {
        node.parent = parent;
        node.name = name;
      }
    }
  }

  /** Removes a name. */
  void remove(String path) {
    Node parent = find(parent(path));
    if (parent != null) {
      Node removed = parent.entries.remove(name(path));
      if (removed != null) {
        removed.parent = null;
      }
    }
  }

  private static String parent(String path) {
    int at = path.lastIndexOf('/');
    return at < 0 ? "" : path.substring(0, at);
  }

  private static String name(String path) {
    return path.substring(path.lastIndexOf('/') + 1);
  }
}
