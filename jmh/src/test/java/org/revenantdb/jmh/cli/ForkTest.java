package org.revenantdb.jmh.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** What comes back from another JVM, whether it ends well, badly or not at all. */
class ForkTest {
  private static final Duration LONG = Duration.ofMinutes(2);

  /** Tells two results, and then ends as it is told to. */
  public static final class Child {
    private Child() {}

    /** The child. */
    public static void main(String[] arguments) throws InterruptedException {
      System.out.println("progress = nothing");
      System.out.println("= a,b=c d 1.5");
      System.out.println("= flag " + Integer.getInteger("fork.test", 0));
      System.out.flush();
      switch (arguments[0]) {
        case "fail" -> System.exit(9);
        case "hang" -> new CountDownLatch(1).await();
        default -> {}
      }
    }
  }

  @Test
  void results_areTold() throws IOException {
    Fork.Said said = new Fork(Child.class, List.of("-Dfork.test=7"), LONG).run("end");
    assertEquals(new Fork.Said(Map.of("a,b=c d", 1.5, "flag", 7.0), ""), said);
  }

  @Test
  void failure_keepsWhatWasTold() throws IOException {
    Fork.Said said = new Fork(Child.class, List.of(), LONG).run("fail");
    assertTrue(said.failure().contains("exit code 9"), said.failure());
    assertEquals(1.5, said.values().get("a,b=c d"));
  }

  @Test
  void hanging_isKilled() throws IOException {
    Fork.Said said = new Fork(Child.class, List.of(), Duration.ofSeconds(5)).run("hang");
    assertTrue(said.failure().contains("did not end"), said.failure());
  }
}
