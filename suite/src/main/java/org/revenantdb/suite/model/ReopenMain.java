package org.revenantdb.suite.model;

import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import org.revenantdb.chaos.crash.ChildPipe;
import org.revenantdb.suite.model.Store.Limits;
import org.revenantdb.suite.model.Store.Recovery;

/** The child that only opens the store, and is killed while it does. */
public final class ReopenMain {

  private ReopenMain() {}

  /**
   * Runs the child: writes {@code I}, opens, writes {@code O} as {@link WorkerMain} does, and waits
   * for its end.
   *
   * @param arguments opener class, directory, bytes of pool and log
   * @throws Exception if the store does not open
   */
  public static void main(String[] arguments) throws Exception {
    ChildPipe pipe = ChildPipe.open();
    Store.Opener opener = Stores.opener(arguments[0]);
    Path dir = Path.of(arguments[1]);
    Limits limits = Limits.of(arguments[2], arguments[3]);
    Stores.warmUp(opener, dir, limits);
    pipe.say("I");
    try {
      Store store = opener.open(dir, limits);
      Recovery recovery = store.recovery();
      pipe.say(WorkerMain.hex("O", recovery.nanos(), recovery.logBytes(), recovery.pages()));
    } catch (Throwable e) {
      e.printStackTrace();
      System.err.flush();
      pipe.say("F the recovery: " + String.valueOf(e).replace('\n', ' '));
      Runtime.getRuntime().halt(3);
    }
    new CountDownLatch(1).await();
  }
}
