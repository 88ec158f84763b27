package org.revenantdb.chaos.trace;

import java.util.Objects;

/**
 * One operation of a program on a disk.
 *
 * <p>Files and directories are identified by <em>node</em>: a number that a file keeps when it is
 * renamed and that is used only once in a trace. A name is an entry of a directory node.
 *
 * <p>{@link #seq} is the operation's place in the one order of the whole run. The promises of a
 * subject take their places from the same {@link TraceClock}. An operation gets its place when it
 * <em>begins</em>, because from then on it may be on the disk. Only a force gets it when it
 * <em>ends</em>, because it can be relied on only from then on.
 */
public sealed interface Operation {

  /**
   * The place, time, thread and call stack of an operation.
   *
   * @param seq place in the order of the run
   * @param nanos since the recording began
   * @param thread name of the thread
   * @param stack where in the program
   */
  record Origin(long seq, long nanos, String thread, CallStack stack) {}

  /**
   * Returns the place, time, thread and call stack.
   *
   * @return the origin
   */
  Origin origin();

  /**
   * Returns the place in the order of the run.
   *
   * @return greater than that of every earlier operation
   */
  default long seq() {
    return origin().seq();
  }

  /**
   * A new file or directory with its first name. Its parent's entry is not durable before the
   * parent is forced (or as the platform profile says).
   *
   * @param origin its place, time, thread and call stack
   * @param node the new node
   * @param directory whether it is a directory
   * @param parent the directory that it is entered in
   * @param name the entry
   */
  record Create(Origin origin, int node, boolean directory, int parent, String name)
      implements Operation {}

  /**
   * Another name of a file that exists.
   *
   * @param origin its place, time, thread and call stack
   * @param node the file
   * @param parent the directory that it is entered in
   * @param name the entry
   */
  record Link(Origin origin, int node, int parent, String name) implements Operation {}

  /**
   * An entry is deleted. The node exists as long as it has another name or is open.
   *
   * @param origin its place, time, thread and call stack
   * @param node what the entry named
   * @param parent the directory
   * @param name the entry
   */
  record Delete(Origin origin, int node, int parent, String name) implements Operation {}

  /**
   * An entry moves and replaces the entry that had the new name.
   *
   * @param origin its place, time, thread and call stack
   * @param node the node that moves
   * @param fromParent the old directory
   * @param fromName the old entry
   * @param toParent the new directory
   * @param toName the new entry
   * @param replaced the node that had that name, or {@link #NO_NODE}
   */
  record Rename(
      Origin origin,
      int node,
      int fromParent,
      String fromName,
      int toParent,
      String toName,
      int replaced)
      implements Operation {}

  /**
   * Bytes of a file change. The file grows if they end behind its end.
   *
   * @param origin its place, time, thread and call stack
   * @param node the file
   * @param offset of the first byte
   * @param data the bytes; not copied, must not change afterwards
   */
  record Write(Origin origin, int node, long offset, byte[] data) implements Operation {

    /** Checks the offset. */
    public Write {
      Objects.checkFromIndexSize(offset, data.length, Long.MAX_VALUE);
    }

    /**
     * Returns the offset of the byte after the last one.
     *
     * @return the offset
     */
    public long end() {
      return offset + data.length;
    }
  }

  /**
   * A file is cut to a smaller size. (A program enlarges a file by writing.)
   *
   * @param origin its place, time, thread and call stack
   * @param node the file
   * @param size the new size
   */
  record Truncate(Origin origin, int node, long size) implements Operation {}

  /**
   * A force that succeeded: of a file's content, of a directory's entries, or of one write alone.
   *
   * <p>The force of one write comes from a channel opened with {@code DSYNC} or {@code SYNC}. It
   * does not cover other pending operations on the node, unless they are needed to read those
   * bytes. It follows its write, with no other operation on the node in between.
   *
   * @param origin the place and time when it <em>returned</em>, with thread and call stack
   * @param node the file or directory
   * @param since when it was called: it covers the operations on the node with a smaller {@link
   *     #seq}
   * @param metadata whether metadata was asked for, too; a file's size is always covered
   * @param only the {@link #seq} of the one write that it covers, or {@link #ALL}
   */
  record Force(Origin origin, int node, long since, boolean metadata, long only)
      implements Operation {

    /** Covers all operations on the node. No operation has this place. */
    public static final long ALL = 0;

    /**
     * A force of a whole node.
     *
     * @param origin the place and time when it <em>returned</em>, with thread and call stack
     * @param node the file or directory
     * @param since when it was called
     * @param metadata whether metadata was asked for, too
     */
    public Force(Origin origin, int node, long since, boolean metadata) {
      this(origin, node, since, metadata, ALL);
    }

    /**
     * Returns whether it covers one write and not the whole node.
     *
     * @return true if it belongs to a synchronous write
     */
    public boolean isOfOneWrite() {
      return only != ALL;
    }
  }

  /**
   * A force that failed, after which the system marked the pages as clean (Rebello et al., "Can
   * Applications Recover from fsync Failures?", ATC 2020). Readers see what it should have written.
   * Any part of that may be on the disk, and no later force writes the rest.
   *
   * @param origin the place and time when it returned, with thread and call stack
   * @param node the file or directory
   * @param since when it was called
   */
  record ForceFailed(Origin origin, int node, long since) implements Operation {}

  /** No node. */
  int NO_NODE = -1;
}
