package org.revenantdb.chaos.history;

import java.nio.file.Path;
import org.revenantdb.chaos.crash.ChildPipe;

/** One life of a store in its own process, which may be killed. */
public final class HistoryMain {

  /** The child is about to open the store. */
  static final String OPENS = "opens";

  /** The child is about to close the store. */
  static final String CLOSES = "closes";

  /** The store is closed. */
  static final String CLOSED = "closed";

  /** There was an exception; the rest of the line describes it. */
  static final String FAILED = "failed ";

  private HistoryMain() {}

  /**
   * Runs the child.
   *
   * @param arguments opener class, directory, seed, life, sessions, transactions, keys, lazy of ten
   */
  public static void main(String[] arguments) {
    ChildPipe pipe = ChildPipe.open();
    try {
      HistoryStore.Opener opener =
          Class.forName(arguments[0])
              .asSubclass(HistoryStore.Opener.class)
              .getDeclaredConstructor()
              .newInstance();
      HistoryWorkload workload =
          new HistoryWorkload(
              Integer.parseInt(arguments[4]),
              Integer.parseInt(arguments[5]),
              Integer.parseInt(arguments[6]),
              Integer.parseInt(arguments[7]));
      HistoryDriver driver =
          new HistoryDriver(workload, Long.parseLong(arguments[2]), Integer.parseInt(arguments[3]));
      pipe.say(OPENS);
      HistoryStore store = opener.open(Path.of(arguments[1]));
      driver.run(store, process -> new WireSession(process, pipe::say));
      pipe.say(CLOSES);
      store.close();
      pipe.say(CLOSED);
      Runtime.getRuntime().halt(0);
    } catch (Throwable e) {
      e.printStackTrace();
      System.err.flush();
      pipe.say(FAILED + String.valueOf(e).replace('\n', ' '));
      Runtime.getRuntime().halt(3);
    }
  }
}
