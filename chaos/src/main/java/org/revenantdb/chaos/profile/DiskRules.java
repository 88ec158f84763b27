package org.revenantdb.chaos.profile;

/**
 * What a disk may do to operations that were not forced.
 *
 * @param unit bytes that are written whole or not at all, a power of two, 512 to 4096
 * @param size how a file's size and its bytes are ordered
 * @param names how entries of directories become durable
 * @param torn what a unit holds that was not written whole
 */
public record DiskRules(int unit, Size size, Names names, Torn torn) {

  /** Checks the unit. */
  public DiskRules {
    if (unit < 512 || unit > 4096 || Integer.bitCount(unit) != 1) {
      throw new IllegalArgumentException("a unit of " + unit + " bytes is not supported");
    }
  }

  /**
   * Rules in which a unit that was not written holds what it held before.
   *
   * @param unit bytes that are written whole or not at all, a power of two, 512 to 4096
   * @param size how a file's size and its bytes are ordered
   * @param names how entries of directories become durable
   */
  public DiskRules(int unit, Size size, Names names) {
    this(unit, size, names, Torn.OLD);
  }

  /** What a unit holds that was not written whole. */
  public enum Torn {
    /** What it held before. */
    OLD,
    /**
     * Where the write would have changed it: what it held before, zeros, or bytes that nobody
     * wrote. Its other bytes are as before.
     */
    GARBAGE
  }

  /** How a file's size and its bytes are ordered. */
  public enum Size {
    /**
     * No appended byte is lost below the size. The size is one that the file had, if only while a
     * write crossed the boundary of a unit.
     */
    AFTER_DATA,
    /**
     * The size is the latest (with a journal, the latest in the journal). Appended bytes that were
     * not written out are zeros.
     */
    BEFORE_DATA,
    /** The size is any that the file had since the last force. Missing bytes below it are zeros. */
    ANY
  }

  /** How entries of directories become durable. */
  public enum Names {
    /** When the entries change. */
    AT_ONCE,
    /**
     * In the order in which they changed, together with truncations, as a journal writes them. If
     * sizes are durable {@link Size#BEFORE_DATA before the bytes}, all sizes are part of that
     * order. Otherwise a size that grew comes after the names before it, but it may come later than
     * the names after it, because its bytes come first. A force makes the journal durable up to the
     * last change of the forced node, whichever files the earlier changes belong to: a creation or
     * change of size of a file, a change of entries of a directory.
     */
    JOURNALED,
    /** Each entry independently, until its directory is forced. */
    INDEPENDENT
  }
}
