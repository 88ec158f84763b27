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
 * <p>Threads: entries belong to the lock of the {@link NameSpace}; the path can be asked for any
 * time and may then be one that the node has just lost.
 */
final class Node {

  /** The latest name; kept when it is deleted, because an open channel is still called by it. */
  private record Name(@Nullable Node parent, String text) {}

  private final int number;
  private final boolean directory;
  private final Map<String, Node> entries = new TreeMap<>();
  private final ReentrantLock content;
  private volatile Name name = new Name(null, "");

  /**
   * Makes a node.
   *
   * @param content held while the content changes: of a file its own, of a directory the lock of
   *     the name space
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
