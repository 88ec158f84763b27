package org.revenantdb.suite.model;

/** The store did what it must not do. */
public final class ModelFailure extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /**
   * Makes the failure.
   *
   * @param what what the store did
   */
  public ModelFailure(String what) {
    super(what);
  }

  /**
   * Makes the failure.
   *
   * @param what what the store did
   * @param cause what it threw
   */
  public ModelFailure(String what, Throwable cause) {
    super(what, cause);
  }
}
