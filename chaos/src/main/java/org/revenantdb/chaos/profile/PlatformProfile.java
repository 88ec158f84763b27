package org.revenantdb.chaos.profile;

/**
 * What a platform may do to operations that nobody forced, by name.
 *
 * <p>Common to all: a force that returned covers what was done to that node before it was called,
 * and a synchronous write itself with what is needed to read it; writes reach the disk in units
 * that are whole or not at all; a unit on the disk holds what the file held there after some write,
 * never less than what was forced (so of two writes to one unit the first alone may be there, but
 * never the second without the first).
 */
public enum PlatformProfile {
  /**
   * All that POSIX lets happen: units of 512 bytes, in any order; a file's size before or after its
   * bytes; every entry of a directory by itself, until that directory is forced, renames between
   * directories in halves; a shrunken size only after a force with metadata.
   */
  STRICT_POSIX(new DiskRules(512, DiskRules.Size.ANY, DiskRules.Names.INDEPENDENT)),
  /**
   * ext4 with {@code data=ordered} and delayed allocation: blocks of 4 KiB; a size never before the
   * bytes it covers, but perhaps after names that changed later; names in the order in which they
   * changed, so a force of the latest makes all earlier ones durable.
   */
  EXT4_ORDERED(new DiskRules(4096, DiskRules.Size.AFTER_DATA, DiskRules.Names.JOURNALED)),
  /**
   * Sectors of 512 bytes in any order, nothing else: names are durable at once, sizes with the
   * data.
   */
  SECTOR_512(new DiskRules(512, DiskRules.Size.AFTER_DATA, DiskRules.Names.AT_ONCE)),
  /**
   * Sectors of 4 KiB in any order, nothing else: names are durable at once, sizes with the data.
   */
  SECTOR_4K(new DiskRules(4096, DiskRules.Size.AFTER_DATA, DiskRules.Names.AT_ONCE)),
  /** A file's size is durable before the bytes: what was appended may read as zeros. */
  SIZE_BEFORE_DATA(new DiskRules(4096, DiskRules.Size.BEFORE_DATA, DiskRules.Names.JOURNALED)),
  /**
   * A file's size is durable after the bytes, in units of 512 bytes: what was appended may be cut
   * off.
   */
  SIZE_AFTER_DATA(new DiskRules(512, DiskRules.Size.AFTER_DATA, DiskRules.Names.JOURNALED)),
  /** A directory's entries come and go, each by itself, until that directory is forced. */
  NAMES_LOST(new DiskRules(4096, DiskRules.Size.AFTER_DATA, DiskRules.Names.INDEPENDENT));

  @SuppressWarnings("ImmutableEnumChecker") // a record of a number and two enums
  private final DiskRules rules;

  PlatformProfile(DiskRules rules) {
    this.rules = rules;
  }

  /**
   * What the name stands for.
   *
   * @return the rules
   */
  public DiskRules rules() {
    return rules;
  }
}
