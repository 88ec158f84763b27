package org.revenantdb.suite.fuzz;

/** The fuzzer itself does not work, so none of its results count. */
public final class FuzzFailure extends RuntimeException {
  private static final long serialVersionUID = 1L;

  FuzzFailure(String message) {
    super(message);
  }
}
