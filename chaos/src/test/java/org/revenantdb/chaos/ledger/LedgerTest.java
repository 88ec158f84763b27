package org.revenantdb.chaos.ledger;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.chaos.crash.ChildPipe;
import org.revenantdb.chaos.crash.ForkedJvm;
import org.revenantdb.chaos.crash.KillPoint;
import org.revenantdb.chaos.crash.Seeds;

/** Appended entries survive the child, and incomplete entries do not count. */
class LedgerTest {

  private static final int THREADS = 3;
  private static final int HEADER = 2 * Integer.BYTES;

  /** An entry whose bytes all follow from its thread and its number. */
  private static byte[] entry(int thread, int number, int length) {
    byte[] entry = new byte[HEADER + length];
    Arrays.fill(entry, (byte) (thread * 31 + number | 1));
    ByteBuffer.wrap(entry).putInt(thread).putInt(number);
    return entry;
  }

  /** Appends from several threads forever, and reports each entry through a pipe. */
  public static final class Appender {
    public static void main(String[] arguments) throws Exception {
      ChildPipe pipe = ChildPipe.open();
      Ledger ledger = Ledger.create(Path.of(arguments[0]));
      for (int t = 0; t < THREADS; t++) {
        int thread = t;
        Thread.ofPlatform()
            .start(() -> {
              Random random = new Random(thread);
              for (int n = 0; ; n++) {
                ledger.append(entry(thread, n, random.nextInt(400)));
                pipe.say(thread + " " + n);
              }
            });
      }
    }
  }

  /** Appends a few entries larger than any single mapping, and ends. */
  public static final class Large {
    public static void main(String[] arguments) throws Exception {
      try (Ledger ledger = Ledger.create(Path.of(arguments[0]))) {
        for (int n = 0; n < 3; n++) {
          ledger.append(entry(0, n, 11_000_003 * n));
        }
        ChildPipe.open().say(refusal(ledger));
      }
    }

    private static String refusal(Ledger ledger) {
      try {
        ledger.append(new byte[0]);
        return "accepted";
      } catch (IllegalArgumentException e) {
        return "refused";
      }
    }
  }

  private static ForkedJvm fork(Class<?> main, Path file) {
    return ForkedJvm.of(main).withCodeOf(main).shortLived().argument(file).fork();
  }

  /** Checks each entry and returns how many each thread appended, without a gap. */
  private static int[] verify(List<byte[]> entries) {
    int[] next = new int[THREADS];
    for (byte[] entry : entries) {
      ByteBuffer header = ByteBuffer.wrap(entry);
      int thread = header.getInt();
      assertEquals(next[thread]++, header.getInt());
      assertTrue(
          Arrays.equals(entry, entry(thread, next[thread] - 1, entry.length - HEADER)),
          "entry " + next[thread] + " of thread " + thread + " is not what was appended");
    }
    return next;
  }

  @Test
  void entries_ofAKilledChild_areCompleteAndAllThatItReported(@TempDir Path dir) {
    long seed = Seeds.fresh();
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    for (int round = 0; round < 4; round++) {
      Path file = dir.resolve("ledger" + round);
      KillPoint point = KillPoint.logUniform(random, 20_000);
      List<byte[]> entries = new ArrayList<>();
      int[] said = new int[THREADS];
      try (ForkedJvm child = fork(Appender.class, file);
          LedgerReader reader = LedgerReader.of(file)) {
        for (String line; (line = child.readLine()) != null; ) {
          String[] words = line.split(" ");
          said[Integer.parseInt(words[0])] = Integer.parseInt(words[1]) + 1;
          entries.addAll(reader.read());
          if (point.reached(entries.size()) && !child.killed()) {
            child.kill();
          }
        }
        entries.addAll(reader.read());
        assertEquals(entries.size(), reader.count());
      }
      assertTrue(entries.size() >= point.event());
      int[] appended = verify(entries);
      for (int t = 0; t < THREADS; t++) {
        assertTrue(appended[t] >= said[t], said[t] + " were said of " + appended[t]);
      }
    }
  }

  @Test
  void entries_ofAnySize_areReadAsTheyWere(@TempDir Path dir) {
    Path file = dir.resolve("ledger");
    try (LedgerReader reader = LedgerReader.of(file);
        ForkedJvm child = fork(Large.class, file)) {
      assertEquals("refused", child.readLine());
      child.drain();
      child.demandOrderlyEnd();
      List<byte[]> entries = reader.read();
      assertEquals(3, verify(entries)[0]);
      assertEquals(HEADER + 22_000_006, entries.getLast().length);
    }
  }

  /** An interrupt closes the channel that a mapping needs. */
  @Test
  void entries_ofAnInterruptedThread_areAppended_alsoBehindAMapping(@TempDir Path dir)
      throws Exception {
    Path file = dir.resolve("ledger");
    try (LedgerReader reader = LedgerReader.of(file)) {
      Thread.currentThread().interrupt();
      try (Ledger ledger = Ledger.create(file)) {
        for (int n = 0; n < 3; n++) {
          ledger.append(entry(0, n, 3_000_001 * n));
        }
      } finally {
        assertTrue(Thread.interrupted());
      }
      assertEquals(3, verify(reader.read())[0]);
    }
  }

  @Test
  void reader_ofNothing_readsNothing(@TempDir Path dir) throws Exception {
    try (LedgerReader reader = LedgerReader.of(dir.resolve("absent"))) {
      assertEquals(List.of(), reader.read());
      Files.write(dir.resolve("absent"), new byte[64]);
      assertEquals(List.of(), reader.read());
    }
  }

  @Test
  void reader_ofAnotherFile_refuses(@TempDir Path dir) throws Exception {
    Path file = Files.writeString(dir.resolve("other"), "this is no ledger, not at all");
    try (LedgerReader reader = LedgerReader.of(file)) {
      assertThrows(IllegalStateException.class, reader::read);
    }
  }
}
