package org.revenantdb.gc;

/** The flags of a version; a leaf's cell has the same bits. */
public final class VersionFlags {
  /** The version marks the row as deleted. */
  public static final int DELETED = 1;

  /** The value is a reference to pages that hold it. */
  public static final int OVERFLOW = 2;

  private VersionFlags() {}
}
