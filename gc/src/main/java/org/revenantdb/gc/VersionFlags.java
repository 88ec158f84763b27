package org.revenantdb.gc;

/** What is known of a version without its value; a leaf's cell has the same bits. */
public final class VersionFlags {
  /** The version says that the row was deleted. */
  public static final int DELETED = 1;

  /** The value is a reference to pages that hold it. */
  public static final int OVERFLOW = 2;

  private VersionFlags() {}
}
