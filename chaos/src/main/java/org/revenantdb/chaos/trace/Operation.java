package org.revenantdb.chaos.trace;

import java.util.Objects;

/**
 * One thing that a program did to a disk.
 *
 * <p>Files and directories are named by <em>node</em>: a number that a file keeps when it is
 * renamed and that is never given out twice in a trace. A name is an entry of a directory node.
 *
 * <p>{@link #seq} is the operation's place in the one order of the whole run; the promises of a
 * subject take their places from the same {@link TraceClock}. An operation has its place when it
 * <em>begins</em>, because from then on it may be on the disk; only a force has it when it
 * <em>ended</em>, because from then on, and not before, it can be relied on.
 */
public sealed interface Operation {

  /**
   * When, by whom and from where.
   *
   * @param seq place in the order of the run
   * @param nanos since the recording began
   * @param thread name of the thread
   * @param stack where in the program
   */
  record Origin(long seq, long nanos, String thread, CallStack stack) {}

  /**
   * When, by whom and from where.
   *
   * @return the origin
   */
  Origin origin();

  /**
   * The place in the order of the run.
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
   * @param origin when, by whom and from where
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
   * @param origin when, by whom and from where
   * @param node the file
   * @param parent the directory that it is entered in
   * @param name the entry
   */
  record Link(Origin origin, int node, int parent, String name) implements Operation {}

  /**
   * An entry is taken away. The node lives on while it has another name or is open.
   *
   * @param origin when, by whom and from where
   * @param node what the entry named
   * @param parent the directory
   * @param name the entry
   */
  record Delete(Origin origin, int node, int parent, String name) implements Operation {}

  /**
   * An entry moves, replacing what had that name.
   *
   * @param origin when, by whom and from where
   * @param node what moves
   * @param fromParent the directory that it leaves
   * @param fromName the entry that goes
   * @param toParent the directory that it enters
   * @param toName the entry that names it now
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
   * Bytes of a file change, and the file grows if they end behind its end.
   *
   * @param origin when, by whom and from where
   * @param node the file
   * @param offset of the first byte
   * @param data the bytes; not copied, must not change any more
   */
  record Write(Origin origin, int node, long offset, byte[] data) implements Operation {

    /** Checks the offset. */
    public Write {
      Objects.checkFromIndexSize(offset, data.length, Long.MAX_VALUE);
    }

    /**
     * The byte after the last one.
     *
     * @return its offset
     */
    public long end() {
      return offset + data.length;
    }
  }

  /**
   * A file gets a smaller size. (A program that enlarges a file does it by writing.)
   *
   * @param origin when, by whom and from where
   * @param node the file
   * @param size the new size
   */
  record Truncate(Origin origin, int node, long size) implements Operation {}

  /**
   * A force that succeeded: of a file's content, or of a directory's entries, or of one write
   * alone.
   *
   * <p>Of one write it is where that was made through a channel opened with {@code DSYNC} or {@code
   * SYNC}: what else is pending on the node, and not needed to read those bytes, is not covered.
   * Such a force follows its write, with nothing else done to the node in between.
   *
   * @param origin when it <em>returned</em>, by whom and from where
   * @param node the file or directory
   * @param since when it was called: it covers the operations on the node with a smaller {@link
   *     #seq}
   * @param metadata whether metadata was asked for, too; a file's size is always covered
   * @param only the {@link #seq} of the one write that it covers, or {@link #ALL}
   */
  record Force(Origin origin, int node, long since, boolean metadata, long only)
      implements Operation {

    /** Covers all that was done to the node; no operation has this place. */
    public static final long ALL = 0;

    /**
     * A force of a whole node.
     *
     * @param origin when it <em>returned</em>, by whom and from where
     * @param node the file or directory
     * @param since when it was called
     * @param metadata whether metadata was asked for, too
     */
    public Force(Origin origin, int node, long since, boolean metadata) {
      this(origin, node, since, metadata, ALL);
    }

    /**
     * Tells whether it covers one write and not the whole node.
     *
     * @return true if it came with a synchronous write
     */
    public boolean isOfOneWrite() {
      return only != ALL;
    }
  }

  /**
   * A force that failed, whose pages the system then took for clean (Rebello et al., "Can
   * Applications Recover from fsync Failures?", ATC 2020): what it should have written is visible
   * to readers, any part of it may be on the disk, and no later force writes the rest.
   *
   * @param origin when it returned, by whom and from where
   * @param node the file or directory
   * @param since when it was called
   */
  record ForceFailed(Origin origin, int node, long since) implements Operation {}

  /** No node. */
  int NO_NODE = -1;
}
