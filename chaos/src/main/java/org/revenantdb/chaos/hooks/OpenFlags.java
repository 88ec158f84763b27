package org.revenantdb.chaos.hooks;

import org.revenantdb.chaos.agent.Internals;

/** The flags with which a Unix opens files: the numbers differ from one to the next. */
record OpenFlags(int append, int creat, int trunc, int sync, int dsync) {

  /** None has a meaning. */
  static final OpenFlags NONE = new OpenFlags(0, 0, 0, 0, 0);

  /**
   * Asks the JDK.
   *
   * @throws ReflectiveOperationException if this JDK does not have them
   */
  static OpenFlags ofUnix() throws ReflectiveOperationException {
    return new OpenFlags(
        Internals.constant("O_APPEND"),
        Internals.constant("O_CREAT"),
        Internals.constant("O_TRUNC"),
        Internals.constant("O_SYNC"),
        Internals.constant("O_DSYNC"));
  }

  /** Those that the tape has, with the numbers of the tape. */
  int onTape(long given) {
    return ((given & creat) != 0 ? Tape.CREAT : 0) | ((given & trunc) != 0 ? Tape.TRUNC : 0);
  }

  boolean isAppend(long given) {
    return (given & append) != 0;
  }

  boolean isSync(long given) {
    return isSet(given, sync);
  }

  boolean isDataSync(long given) {
    return isSet(given, dsync);
  }

  /** One flag may have several bits. */
  private static boolean isSet(long given, int bits) {
    return bits != 0 && (given & bits) == bits;
  }
}
