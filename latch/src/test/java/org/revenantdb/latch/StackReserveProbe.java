package org.revenantdb.latch;

/**
 * Prints how many bytes of stack are left where {@link StackReserve#ensure}, or with an argument
 * {@link StackReserve#ensureForTwo}, returns and one call deeper it does not. For {@link
 * StackReserveTest}, in a JVM of its own, in which {@link #down} is never compiled: so each of its
 * frames has the same size.
 */
final class StackReserveProbe {
  private static final int SMALL = 1 << 20;
  private static final int LARGE = 2 << 20;

  /** More than it takes until each compiler has had the method. */
  private static final int CALLS = 200_000;

  private int depth;
  private int deepestThatReturned;
  private boolean asks;

  private static boolean forTwo;

  private StackReserveProbe() {}

  /** Calls itself until the stack ends, and asks for the reserve at each depth. */
  private void down() {
    depth++;
    if (asks) {
      ask();
    }
    down();
  }

  private void ask() {
    try {
      if (forTwo) {
        StackReserve.ensureForTwo();
      } else {
        StackReserve.ensure();
      }
      deepestThatReturned = depth;
    } catch (StackOverflowError notThere) {
      // Here and deeper.
    }
  }

  private static StackReserveProbe toTheEnd(int stackSize, boolean asks)
      throws InterruptedException {
    StackReserveProbe probe = new StackReserveProbe();
    probe.asks = asks;
    Thread thread =
        new Thread(
            null,
            () -> {
              try {
                probe.down();
              } catch (StackOverflowError end) {
                // That is what it is for.
              }
            },
            "probe",
            stackSize);
    thread.start();
    thread.join();
    return probe;
  }

  public static void main(String[] arguments) throws InterruptedException {
    forTwo = arguments.length > 0;
    for (int i = 0; i < CALLS; i++) {
      if (forTwo) {
        StackReserve.ensureForTwo();
      } else {
        StackReserve.ensure();
      }
    }
    toTheEnd(SMALL, /* asks= */ true); // loads what it needs
    int small = toTheEnd(SMALL, /* asks= */ false).depth;
    int large = toTheEnd(LARGE, /* asks= */ false).depth;
    StackReserveProbe probe = toTheEnd(LARGE, /* asks= */ true);
    double frame = (double) (LARGE - SMALL) / (large - small);
    System.out.println("left " + (long) ((large - probe.deepestThatReturned) * frame));
  }
}
