package org.revenantdb.suite.fuzz;

/** The fuzzer itself does not work: nothing that it has counted means anything. */
public final class FuzzFailure extends RuntimeException {
  private static final long serialVersionUID = 1L;

  FuzzFailure(String message) {
    super(message);
  }
}
