package org.revenantdb.chaos.recording;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A file or directory in the shadow of the tree: its number in the trace, and for a directory its
 * entries.
 *
 * <p>Threads: entries are guarded by the lock of the {@link NameSpace}. The path can be read at any
 * time; it may be one that the node has just lost.
 */
final class Node {

  /**
   * The latest name. It is kept when it is deleted, because reports on an open channel still use
   * it.
   */
  private record Name(@Nullable Node parent, String text) {}

  private final int number;
  private final boolean directory;
  private final Map<String, Node> entries = new TreeMap<>();
  private final ReentrantLock content;
  private volatile Name name = new Name(null, "");

  /**
   * Creates a node.
   *
   * @param content the lock that is held while the content changes: a file's own, or for a
   *     directory the lock of the name space
   */
  Node(int number, boolean directory, ReentrantLock content) {
    this.number = number;
    this.directory = directory;
    this.content = content;
  }

  int number() {
    return number;
  }

  boolean isDirectory() {
    return directory;
  }

  ReentrantLock content() {
    return content;
  }

  Map<String, Node> entries() {
    return entries;
  }

  /** The path from the root, with {@code /} between names; of a file with several names, one. */
  String path() {
    Deque<String> names = new ArrayDeque<>();
    for (Name each = name; each.parent() != null; each = each.parent().name) {
      names.addFirst(each.text());
    }
    return String.join("/", names);
  }

  void named(Node parent, String text) {
    name = new Name(parent, text);
  }
}
