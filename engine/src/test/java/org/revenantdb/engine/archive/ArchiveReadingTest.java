package org.revenantdb.engine.archive;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.archive.Archived.shipped;
import static org.revenantdb.engine.archive.Archived.small;
import static org.revenantdb.engine.backup.BackedUp.put;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Database;
import org.revenantdb.recovery.file.DamagedFileException;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.log.LogPiece;
import org.revenantdb.recovery.log.SegmentInfo;

/** A reader that looks at an archive again and again reads what is new. */
class ArchiveReadingTest {
  private static final int SEGMENT = 1 << 20;

  @TempDir Path temporary;

  private Path archive;
  private final IoStatistics statistics = new IoStatistics();
  private final ArchiveLog.Reading reading = new ArchiveLog.Reading();
  private long position;
  private int blocks;

  @BeforeEach
  void begin() {
    archive = temporary.resolve("archive");
    try (Database db = Database.open(temporary.resolve("db"), small(archive))) {
      put(db, "rows", 0, 300, 1, 300);
    }
    position = new ArchiveLog(files(), files().demandHeader()).files().getFirst().from();
  }

  private ArchiveFiles files() {
    return new ArchiveFiles(archive, statistics);
  }

  /** Takes what is there behind the position, and returns how many bytes were read for it. */
  private long look() {
    ArchiveFiles files = files();
    ArchiveFiles.Header header = files.demandHeader();
    long before = statistics.bytesRead();
    new ArchiveLog(files, header, reading)
        .walk(
            position,
            block -> {
              assertTrue(
                  block.piece().from() <= position || block.beginsLifeAfter(position),
                  "a block is missing");
              position = block.piece().to();
              blocks++;
              return true;
            });
    return statistics.bytesRead() - before;
  }

  private void more(int rows) {
    try (Database db = Database.open(temporary.resolve("db"), small(archive))) {
      for (int i = 2; i < 5; i++) {
        put(db, "rows", 0, rows, i, 300);
        db.archiveNow();
      }
    }
  }

  @Test
  void a_look_reads_nothing_that_was_read_before() {
    long first = look();
    assertTrue(first > 300 * 300 && blocks > 0, "it reads all at first");
    assertEquals(0, look(), "nothing is new");
    try (Database db = Database.open(temporary.resolve("db"), small(archive))) {
      db.archiveNow();
      look();
      put(db, "rows", 0, 1, 2, 300);
      db.archiveNow();
      int before = blocks;
      assertTrue(look() < first / 10, "it reads one block, and one header");
      assertEquals(before + 1, blocks);
      assertEquals(shipped(db), position);
    }
  }

  @Test
  void looks_see_each_block_once_across_lives_and_files() {
    for (int i = 0; i < 4; i++) {
      look();
      more(20 + i);
    }
    look();
    long seen = position;
    int all = blocks;
    position = new ArchiveLog(files(), files().demandHeader()).files().getFirst().from();
    blocks = 0;
    look();
    assertEquals(seen, position);
    assertEquals(all, blocks);
  }

  /** The place that was kept lies within a block of the new file. */
  @Test
  void a_file_that_was_made_anew_is_read_from_its_begin() throws IOException {
    look();
    more(50);
    Path file = Archived.files(archive, ".rva").getLast();
    byte[] whole = Files.readAllBytes(file);
    ArchiveBlock first = block(whole, ArchiveLayout.SECTOR);
    ArchiveBlock second = block(whole, first.end());
    ArchiveBlock third = block(whole, second.end());
    Files.write(file, Arrays.copyOf(whole, first.end()));
    look();
    assertEquals(first.piece().to(), position);
    byte[] joined = ArchiveBlock.bytes(join(first.piece(), second.piece()), second.marks());
    ByteBuffer anew =
        ByteBuffer.allocate(whole.length)
            .put(whole, 0, ArchiveLayout.SECTOR)
            .put(joined)
            .put(whole, second.end(), third.end() - second.end());
    Files.write(file, Arrays.copyOf(anew.array(), anew.position()));
    assertNull(ArchiveBlock.read(anew.array(), first.end(), SEGMENT), "no block begins there");
    look();
    assertEquals(third.piece().to(), position);
  }

  private static ArchiveBlock block(byte[] file, int at) {
    return Objects.requireNonNull(ArchiveBlock.read(file, at, SEGMENT));
  }

  private static LogPiece join(LogPiece one, LogPiece other) {
    Set<SegmentInfo> segments = new LinkedHashSet<>(one.segments());
    segments.addAll(other.segments());
    byte[] records = Arrays.copyOf(one.records(), one.records().length + other.records().length);
    System.arraycopy(other.records(), 0, records, one.records().length, other.records().length);
    return new LogPiece(one.from(), other.to(), one.life(), List.copyOf(segments), records);
  }

  @Test
  void a_header_that_was_damaged_since_is_refused() throws IOException {
    look();
    Path file = Archived.files(archive, ".rva").getFirst();
    byte[] bytes = Files.readAllBytes(file);
    bytes[40] ^= 1;
    Files.delete(file);
    Files.write(file, Arrays.copyOf(bytes, bytes.length + 1));
    assertEquals(file, assertThrows(DamagedFileException.class, this::look).file());
  }
}
