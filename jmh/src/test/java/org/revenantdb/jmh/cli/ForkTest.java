package org.revenantdb.jmh.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintStream;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** What comes back from another JVM, whether it ends well, badly or not at all. */
class ForkTest {
  private static final Duration LONG = Duration.ofMinutes(2);

  private static final int MANY = 3_000;

  /** Prints two results, and then ends as requested. */
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
        case "burst" -> {
          StringBuilder burst =
              new StringBuilder(); // fits into a pipe, so it does not wait for the reader
          for (int i = 0; i < MANY; i++) {
            burst.append("= number").append(i).append(" 1\n");
          }
          System.out.append(burst).flush();
          Runtime.getRuntime().halt(0);
        }
        case "hang" -> new CountDownLatch(1).await();
        default -> {}
      }
    }
  }

  @Test
  void results_areReported() throws IOException {
    Fork.Said said = new Fork(Child.class, List.of("-Dfork.test=7"), LONG).run("end");
    assertEquals(new Fork.Said(Map.of("a,b=c d", 1.5, "flag", 7.0), ""), said);
  }

  /** The reader is held up at the first line until the caller has noticed the end, and waits. */
  @Test
  void results_stillInThePipeAtTheEndAreReported() throws IOException {
    Thread caller = Thread.currentThread();
    PrintStream usual = System.err;
    System.setErr(
        new PrintStream(usual, /* autoFlush= */ true) {
          @Override
          public void println(String line) {
            while (Arrays.stream(caller.getStackTrace())
                .noneMatch(frame -> frame.getMethodName().equals("join"))) {
              LockSupport.parkNanos(20_000);
            }
            super.println(line);
          }
        });
    try {
      Fork.Said said = new Fork(Child.class, List.of(), LONG).run("burst");
      assertEquals("", said.failure());
      assertEquals(MANY + 2, said.values().size());
    } finally {
      System.setErr(usual);
    }
  }

  @Test
  void failure_keepsEarlierResults() throws IOException {
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
