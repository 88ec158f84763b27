package org.revenantdb.recovery.restart;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.revenantdb.recovery.file.ControlState;
import org.revenantdb.recovery.file.DamagedFileException;
import org.revenantdb.recovery.log.Log;
import org.revenantdb.recovery.log.PartKind;
import org.revenantdb.recovery.log.RecordBuilder;
import org.revenantdb.recovery.log.RecordType;
import org.revenantdb.recovery.testing.CrashDisk;

/** The parts that each page may lack, compared with plain lists, in logs of small segments. */
@Execution(ExecutionMode.SAME_THREAD)
class PendingPartsTest {
  private static final int PAGES = 700; // more than the first table has room for

  /** A part as it was logged. */
  private record Part(PartKind kind, long start, long lsn, ByteBuffer content) {
    @Override
    public boolean equals(Object other) {
      return other instanceof Part part
          && kind == part.kind
          && lsn == part.lsn
          && content.equals(part.content);
    }

    @Override
    public int hashCode() {
      return Long.hashCode(lsn);
    }
  }

  private final CrashDisk disk = new CrashDisk();
  private final Log log = LogFixture.create(disk);
  private final long begin = log.tail();
  private final Map<Integer, List<Part>> expected = new TreeMap<>();

  @AfterEach
  void close() {
    log.close();
  }

  private Restart analyse() {
    log.awaitDurable(log.tail());
    return LogFixture.analyse(
        disk.afterKill(), LogFixture.state(begin, begin, 0, log.durableLsn(), 1));
  }

  private void publishParts(Random random) {
    RecordBuilder record = new RecordBuilder().begin(RecordType.PAGES, 3);
    List<Integer> pages = new ArrayList<>();
    List<Part> parts = new ArrayList<>();
    for (int i = random.nextInt(1, 4); i > 0; i--) {
      int page = 3 + (random.nextBoolean() ? random.nextInt(10) : random.nextInt(PAGES));
      PartKind kind =
          switch (random.nextInt(10)) {
            case 0 -> PartKind.FORMAT;
            case 1 -> PartKind.FREE;
            default -> PartKind.CHANGE;
          };
      byte[] content = new byte[kind == PartKind.FREE ? 0 : random.nextInt(280)];
      random.nextBytes(content);
      record.beginPart(page, kind);
      record.putBytes(content, 0, content.length);
      record.endPart();
      pages.add(page);
      parts.add(new Part(kind, 0, 0, ByteBuffer.wrap(content)));
    }
    long start = log.tail();
    long lsn = log.publish(record);
    for (int i = 0; i < pages.size(); i++) {
      List<Part> list = expected.computeIfAbsent(pages.get(i), _ -> new ArrayList<>());
      if (parts.get(i).kind != PartKind.CHANGE) {
        list.clear();
      }
      if (parts.get(i).kind != PartKind.FREE) {
        list.add(new Part(parts.get(i).kind, start, lsn, parts.get(i).content));
      }
    }
  }

  private void publishFlushed(Random random) {
    List<Integer> pages = new ArrayList<>(expected.keySet());
    if (pages.isEmpty()) {
      return;
    }
    int page = pages.get(random.nextInt(pages.size()));
    List<Part> list = expected.get(page);
    if (!list.isEmpty()) {
      long lsn = list.get(random.nextInt(list.size())).lsn;
      LogFixture.flushed(log, page, lsn);
      list.removeIf(part -> part.lsn <= lsn);
    }
  }

  private static long firstOfSegment(long lsn) {
    return LogFixture.firstLsn(LogFixture.number(lsn));
  }

  /** Pages whose first part is in the lowest segment come first. */
  private List<Integer> inOrder() {
    return expected.entrySet().stream()
        .sorted(
            Comparator.comparingLong((Map.Entry<Integer, List<Part>> page) ->
                    firstOfSegment(page.getValue().getFirst().start))
                .thenComparing(Map.Entry::getKey))
        .map(Map.Entry::getKey)
        .toList();
  }

  private static List<Part> replayed(PendingParts pending, int page) {
    List<Part> found = new ArrayList<>();
    pending.replay(
        page,
        /* fromFiles= */ true,
        (of, lsn, kind, record, offset, length) -> {
          assertEquals(page, of);
          found.add(
              new Part(
                  kind,
                  0,
                  lsn,
                  ByteBuffer.wrap(Arrays.copyOfRange(record, offset, offset + length))));
        });
    return found;
  }

  @Test
  void each_page_has_the_parts_since_its_last_format_or_free_that_were_not_flushed() {
    long seed = Long.getLong("pending.seed", System.nanoTime());
    String story = "pending.seed=" + seed;
    Random random = new Random(seed);
    for (int i = 0; i < 3_000; i++) {
      if (random.nextInt(4) > 0) {
        publishParts(random);
      } else {
        publishFlushed(random);
      }
    }
    expected.values().removeIf(List::isEmpty);
    Restart restart = analyse();
    TreeMap<Long, Long> lowest = new TreeMap<>();
    for (List<Part> parts : expected.values()) {
      long start = parts.getFirst().start;
      lowest.merge(firstOfSegment(start), start, Math::min);
    }
    try (PendingParts pending = restart.pending()) {
      assertEquals(expected.size(), pending.left(), story);
      List<Integer> order = new ArrayList<>();
      for (int page : pending.pages()) {
        order.add(page);
      }
      assertEquals(inOrder(), order, story);
      Collections.shuffle(order, random);
      for (int page : order) {
        List<Part> parts = expected.remove(page);
        assertTrue(pending.isPending(page), story);
        assertEquals(parts.getFirst().kind == PartKind.FORMAT, pending.beginsWithFormat(page));
        assertEquals(parts.getLast().lsn, pending.lastLsn(page), story);
        assertEquals(parts, replayed(pending, page), story);
        pending.done(page);
        pending.done(page); // by an allocation that formats it
        assertFalse(pending.isPending(page), story);
        assertEquals(expected.size(), pending.left(), story);
        if (expected.size() % 100 == 0) {
          assertEquals(inOrder(), Arrays.stream(pending.pages()).boxed().toList(), story);
        }
        long oldest =
            expected.values().stream().mapToLong(list -> list.getFirst().start).min().orElse(-1);
        assertEquals(
            oldest < 0 ? Long.MAX_VALUE : lowest.get(firstOfSegment(oldest)),
            pending.oldestLsn(),
            story);
      }
      assertFalse(pending.isPending(-1));
      assertFalse(pending.isPending(Integer.MAX_VALUE));
    }
  }

  /**
   * The first position of a segment is seldom the start of a record: no restart could read from it.
   */
  @Test
  void a_restart_reads_from_where_the_log_is_needed() {
    for (int page = 3; page < 60; page++) {
      LogFixture.change(log, 1, page, LogFixture.bytes(500));
    }
    try (PendingParts pending = analyse().pending()) {
      for (int page : pending.pages()) {
        long redo = pending.oldestLsn();
        ControlState slot = LogFixture.state(redo, redo, 0, log.durableLsn(), 1);
        Restart again = LogFixture.analyse(disk.afterKill(), slot);
        assertEquals(log.tail(), again.result().endOfLog());
        again.pending().close();
        pending.done(page);
      }
    }
  }

  /** The places of emptied lists are used again. */
  @Test
  void memory_is_taken_for_pending_parts_and_not_for_former_ones() {
    for (int i = 0; i < 20_000; i++) {
      LogFixture.flushed(log, 5, LogFixture.change(log, 1, 5, new byte[8]));
    }
    try (PendingParts pending = analyse().pending()) {
      assertEquals(0, pending.left());
      assertTrue(pending.bytes() < 2 << 20, "bytes: " + pending.bytes());
    }
  }

  /** Analysis has found the record good; since then its bytes have changed. */
  @Test
  void a_record_that_is_not_what_it_was_is_refused_with_segment_and_place() throws Exception {
    long lsn = LogFixture.change(log, 1, 5, LogFixture.bytes(100));
    log.awaitDurable(lsn);
    CrashDisk left = disk.afterKill();
    Restart restart =
        LogFixture.analyse(left, LogFixture.state(begin, begin, 0, log.durableLsn(), 1));
    Path segment = left.path(LogFixture.segment(1));
    try (FileChannel file = FileChannel.open(segment, StandardOpenOption.WRITE)) {
      file.write(ByteBuffer.wrap(new byte[] {1}), 4096 + (begin - LogFixture.PAYLOAD) + 60);
    }
    try (PendingParts pending = restart.pending()) {
      DamagedFileException told =
          assertThrows(DamagedFileException.class, () -> replayed(pending, 5));
      assertEquals(segment.toString(), told.file().toString());
      assertTrue(told.getMessage().contains("position " + begin), told.getMessage());
      assertTrue(pending.isPending(5));
    }
  }
}
