package org.revenantdb.chaos.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** A kill ends the child, and lines written before the kill are not lost. */
class ForkedJvmTest {

  /** Writes a count forever; holds a lock on a file. */
  public static final class Counter {
    public static void main(String[] arguments) throws Exception {
      ChildPipe pipe = ChildPipe.open();
      FileChannel file =
          FileChannel.open(
              Path.of(arguments[0]), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
      if (file.tryLock() == null) {
        throw new IllegalStateException("somebody else holds the lock");
      }
      Runtime.getRuntime().addShutdownHook(new Thread(() -> pipe.say("hook")));
      System.out.println("this must not get between the lines");
      for (long n = 1; ; n++) {
        pipe.say(Long.toString(n));
      }
    }
  }

  /** Fails. */
  public static final class Failing {
    public static void main(String[] arguments) {
      ChildPipe.open().say("before");
      throw new IllegalStateException("planted");
    }
  }

  /** Dies in the middle of a line. */
  public static final class CutShort {
    public static void main(String[] arguments) throws Exception {
      ChildPipe.open().say("whole");
      try (var out = new FileOutputStream(FileDescriptor.out)) {
        out.write("hal".getBytes(StandardCharsets.UTF_8));
        Runtime.getRuntime().halt(0);
      }
    }
  }

  /** Never writes a line. */
  public static final class Silent {
    public static void main(String[] arguments) throws Exception {
      ChildPipe.open();
      Files.createFile(Path.of(arguments[0]));
      new CountDownLatch(1).await();
    }
  }

  /** Writes its arguments and its heap size. */
  public static final class Orderly {
    public static void main(String[] arguments) {
      ChildPipe pipe = ChildPipe.open();
      pipe.say(arguments[0]);
      pipe.say(Long.toString(Runtime.getRuntime().maxMemory()));
    }
  }

  private static ForkedJvm.Builder child(Class<?> main) {
    return ForkedJvm.of(main).withCodeOf(main).shortLived();
  }

  private static List<String> all(ForkedJvm child) {
    List<String> lines = new ArrayList<>();
    for (String line; (line = child.readLine()) != null; ) {
      lines.add(line);
    }
    return lines;
  }

  @Test
  @EnabledOnOs({OS.LINUX, OS.MAC})
  void kill_atAPoint_endsTheChildWithSigkillAndKeepsEveryLine(@TempDir Path dir) {
    KillPoint point = new KillPoint(1_000);
    try (ForkedJvm child = child(Counter.class).argument(dir.resolve("lock")).fork()) {
      List<String> lines = new ArrayList<>();
      for (String line; (line = child.readLine()) != null; ) {
        lines.add(line);
        if (point.reached(lines.size()) && !child.killed()) {
          child.kill();
        }
      }
      assertEquals(128 + 9, child.awaitEnd());
      assertTrue(lines.size() >= 1_000);
      for (int i = 0; i < lines.size(); i++) {
        assertEquals(Integer.toString(i + 1), lines.get(i));
      }
      child.demandOrderlyEnd();
    }
  }

  @Test
  void kill_releasesTheLocksOfTheChild(@TempDir Path dir) {
    for (int i = 0; i < 3; i++) {
      try (ForkedJvm child = child(Counter.class).argument(dir.resolve("lock")).fork()) {
        assertEquals("1", child.readLine());
        child.kill();
        child.kill();
        assertTrue(child.killed());
      }
    }
  }

  @Test
  void killAfter_childThatEndsBefore_isNotKilled() {
    try (ForkedJvm child = child(Orderly.class).argument("x").fork()) {
      all(child);
      child.awaitEnd();
      child.killAfter(Duration.ofMinutes(5));
      assertFalse(child.killed());
    }
  }

  @Test
  void child_thatEndsInOrder_hasItsArgumentsAndHeap() {
    try (ForkedJvm child =
        child(Orderly.class).heap("32m").argument("a b").argument("unused").fork()) {
      List<String> lines = all(child);
      assertEquals(0, child.awaitEnd());
      assertEquals("a b", lines.getFirst());
      assertTrue(Long.parseLong(lines.get(1)) <= 32L << 20);
      child.demandOrderlyEnd();
    }
  }

  @Test
  void line_thatWasCutShort_isDropped() {
    try (ForkedJvm child = child(CutShort.class).fork()) {
      assertEquals(List.of("whole"), all(child));
    }
  }

  @Test
  void child_thatFailsByItself_isReportedWithItsStandardError() {
    try (ForkedJvm child = child(Failing.class).fork()) {
      assertEquals(List.of("before"), all(child));
      ChildFailedException e = assertThrows(ChildFailedException.class, child::demandOrderlyEnd);
      assertNotNull(e.getMessage());
      assertTrue(e.getMessage().contains("exit code 1"), e.getMessage());
      assertTrue(e.getMessage().contains("planted"), e.getMessage());
    }
  }

  @Test
  @EnabledOnOs({OS.LINUX, OS.MAC})
  void child_withoutASignOfLife_isKilledAfterAThreadDump(@TempDir Path dir) {
    Path up = dir.resolve("up");
    // A JVM that has not yet started dies of the request for a dump: then it needs more time.
    for (long limit = 2; !Files.exists(up); limit *= 5) {
      Duration time = Duration.ofSeconds(limit);
      try (ForkedJvm child = child(Silent.class).argument(up).stallLimit(time).fork()) {
        assertEquals(List.of(), all(child));
        ChildFailedException e = assertThrows(ChildFailedException.class, child::demandOrderlyEnd);
        assertTrue(child.stalled());
        assertTrue(
            !Files.exists(up) || String.valueOf(e.getMessage()).contains("Full thread dump"),
            e.getMessage());
      }
    }
  }

  @Test
  void output_thatIsNotThePipe_goesToTheStandardError(@TempDir Path dir) {
    try (ForkedJvm child = child(Counter.class).argument(dir.resolve("lock")).fork()) {
      assertEquals("1", child.readLine());
      child.kill();
      assertTrue(child.stderr().contains("must not get between"), child.stderr());
    }
  }
}
