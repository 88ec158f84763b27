package org.revenantdb.chaos.run;

import java.util.function.Supplier;

/**
 * Turns the end of the JVM while a subject runs into a failure: a subject that calls {@code
 * System.exit(0)} must not make a run green.
 */
final class ExitGuard implements AutoCloseable {

  private static final int HARNESS_BROKEN = 70;

  private final Thread hook;

  private ExitGuard(Thread hook) {
    this.hook = hook;
  }

  /**
   * Begins to guard.
   *
   * @param doing says what the subject is doing
   * @return the guard
   */
  @SuppressWarnings(
      "SystemExitOutsideMain") // the JVM is ending already; only its exit code changes
  static ExitGuard on(Supplier<String> doing) {
    Thread hook =
        new Thread(
            () -> {
              System.err.println(
                  "HARNESS_BROKEN: the JVM was ended during \""
                      + doing.get()
                      + "\", by the subject or from outside");
              Runtime.getRuntime().halt(HARNESS_BROKEN);
            },
            "exit guard");
    Runtime.getRuntime().addShutdownHook(hook);
    return new ExitGuard(hook);
  }

  @Override
  public void close() {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException ending) {
      // The JVM is on its way out: the hook says why.
    }
  }
}
