package org.revenantdb.chaos.profile;

/**
 * What may become of operations that nobody forced.
 *
 * @param unit bytes that are written whole or not at all, a power of two, 512 to 4096
 * @param size how a file's size and its bytes are ordered
 * @param names how entries of directories become durable
 */
public record DiskRules(int unit, Size size, Names names) {

  /** Checks the unit. */
  public DiskRules {
    if (unit < 512 || unit > 4096 || Integer.bitCount(unit) != 1) {
      throw new IllegalArgumentException("a unit of " + unit + " bytes is not supported");
    }
  }

  /** How a file's size and its bytes are ordered. */
  public enum Size {
    /**
     * No appended byte is lost below the size; the size is one that the file had, if only while a
     * write passed through it: at the boundary of a unit.
     */
    AFTER_DATA,
    /**
     * The size is the latest (that the journal has, if there is one); appended bytes that were not
     * written out are zeros.
     */
    BEFORE_DATA,
    /**
     * The size is any that the file had since the last force; what is missing below it is zeros.
     */
    ANY
  }

  /** How entries of directories become durable. */
  public enum Names {
    /** When they change. */
    AT_ONCE,
    /**
     * In the order in which they changed, together with truncations (and all sizes, if they are
     * durable {@link Size#BEFORE_DATA before the bytes}), as a journal writes them. Another size
     * that grew comes after the names before it, but perhaps later than the names behind it: its
     * bytes come first. A force of a file that was created or whose size changed, and a force of a
     * directory whose entries changed, makes everything in the journal durable up to the last such
     * change of that node, whatever file it belongs to.
     */
    JOURNALED,
    /** Each by itself, until its directory is forced. */
    INDEPENDENT
  }
}
