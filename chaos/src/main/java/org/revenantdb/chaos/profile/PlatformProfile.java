package org.revenantdb.chaos.profile;

/**
 * Named sets of rules: what a platform may do to operations that were not forced.
 *
 * <p>Common to all profiles:
 *
 * <ul>
 *   <li>A force that returned covers the operations on that node before the call. A synchronous
 *       write covers itself and what is needed to read it.
 *   <li>Writes reach the disk in units that are whole or not there.
 *   <li>A unit on the disk holds what the file held there after some write, and never less than
 *       what was forced. So of two writes to one unit the first alone may be there, but never the
 *       second without the first. {@link #SECTOR_GARBAGE} is the exception.
 * </ul>
 */
public enum PlatformProfile {
  /**
   * Everything that POSIX allows: units of 512 bytes in any order, and a file's size before or
   * after its bytes. Each directory entry changes independently until its directory is forced, and
   * a rename between directories may be half done. A smaller size is durable only after a force
   * with metadata.
   */
  STRICT_POSIX(
      "what was not forced is lost in any part and any order",
      new DiskRules(512, DiskRules.Size.ANY, DiskRules.Names.INDEPENDENT)),
  /**
   * ext4 with {@code data=ordered} and delayed allocation, in blocks of 4 KiB. A size is never
   * durable before the bytes below it, but perhaps after names that changed later. Names become
   * durable in the order in which they changed, so a force of the latest makes all earlier ones
   * durable.
   */
  EXT4_ORDERED(
      "what was not forced is lost as on ext4 with data=ordered",
      new DiskRules(4096, DiskRules.Size.AFTER_DATA, DiskRules.Names.JOURNALED)),
  /**
   * Sectors of 512 bytes in any order and nothing else: names are durable at once, sizes with the
   * data.
   */
  SECTOR_512(
      "sectors of 512 bytes are lost in any order",
      new DiskRules(512, DiskRules.Size.AFTER_DATA, DiskRules.Names.AT_ONCE)),
  /**
   * Sectors of 4 KiB in any order and nothing else: names are durable at once, sizes with the data.
   */
  SECTOR_4K(
      "sectors of 4 KiB are lost in any order",
      new DiskRules(4096, DiskRules.Size.AFTER_DATA, DiskRules.Names.AT_ONCE)),
  /** A file's size is durable before the bytes: appended bytes may read as zeros. */
  SIZE_BEFORE_DATA(
      "files have their size before their bytes",
      new DiskRules(4096, DiskRules.Size.BEFORE_DATA, DiskRules.Names.JOURNALED)),
  /**
   * A file's size is durable after the bytes, in units of 512 bytes: appended bytes may be cut off.
   */
  SIZE_AFTER_DATA(
      "files lose their appended bytes",
      new DiskRules(512, DiskRules.Size.AFTER_DATA, DiskRules.Names.JOURNALED)),
  /** Each directory entry changes independently, until its directory is forced. */
  NAMES_LOST(
      "names are lost that no force of their directory has kept",
      new DiskRules(4096, DiskRules.Size.AFTER_DATA, DiskRules.Names.INDEPENDENT)),
  /**
   * Sectors of 512 bytes in any order. Where a write is lost, its bytes in a sector are the old
   * ones, zeros, or garbage: the drive lost power while it wrote that sector. Bytes beside the
   * write stay as they were. A file's size is durable before or after its bytes. This profile shows
   * a missing checksum.
   */
  SECTOR_GARBAGE(
      "lost sectors hold garbage, zeros or old bytes",
      new DiskRules(512, DiskRules.Size.ANY, DiskRules.Names.AT_ONCE, DiskRules.Torn.GARBAGE));

  private final String title;

  @SuppressWarnings("ImmutableEnumChecker") // a record of a number and two enums
  private final DiskRules rules;

  PlatformProfile(String title, DiskRules rules) {
    this.title = title;
    this.rules = rules;
  }

  /**
   * Returns in words what a power cut does under this profile.
   *
   * @return part of a sentence
   */
  public String title() {
    return title;
  }

  /**
   * Returns the rules of the profile.
   *
   * @return the rules
   */
  public DiskRules rules() {
    return rules;
  }
}
