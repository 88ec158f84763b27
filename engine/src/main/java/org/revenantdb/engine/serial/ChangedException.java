package org.revenantdb.engine.serial;

/**
 * A serializable transaction cannot commit, because something that it has read was changed since.
 */
public final class ChangedException extends Exception {
  private static final long serialVersionUID = 1L;

  /** LSN of the commit that changed it; 0 if that is not known. */
  private final long lsn;

  ChangedException(long lsn) {
    super(null, null, /* enableSuppression= */ false, /* writableStackTrace= */ false);
    this.lsn = lsn;
  }

  /** LSN of the commit that changed it; 0 if that is not known. */
  public long lsn() {
    return lsn;
  }
}
