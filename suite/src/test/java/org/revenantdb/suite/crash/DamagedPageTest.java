package org.revenantdb.suite.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.disk.MemoryFileSystem;
import org.revenantdb.chaos.oracle.PromiseLog;
import org.revenantdb.chaos.run.StateChecker;
import org.revenantdb.chaos.run.StateResult;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.chaos.trace.TraceClock;
import org.revenantdb.engine.Database;

/** The suite once reported a page with a wrong checksum as a wrong answer; it is a refusal. */
class DamagedPageTest {

  private static final long SPACE_MAP = 3 * 8192L;

  @Test
  void a_flipped_bit_in_a_space_map_is_a_refusal_and_not_a_wrong_answer() throws IOException {
    ShortSubject subject = new ShortSubject();
    MemoryFileSystem disk = MemoryFileSystem.of(new DiskImage());
    Path root = disk.root();
    PromiseLog log = new PromiseLog();
    try (Database db = subject.open(root)) {
      subject.work(db, log.promises(new TraceClock(), 1));
    }
    DiskImage image = DiskImage.of(root);
    int data = image.paths().get("db/revenant.data");
    byte[] one = image.file(data).bytes(SPACE_MAP + 129, 1);
    one[0] ^= 1;
    image.file(data).write(SPACE_MAP + 129, ByteBuffer.wrap(one));
    try (Database db = subject.open(MemoryFileSystem.of(image.fork()).root())) {
      assertEquals(1, db.check().problems().size(), "it is named once, however often it is read");
    }
    StateResult result =
        new StateChecker<>(ShortSubject::new, /* resume= */ false)
            .check(image, log, Long.MAX_VALUE);
    assertEquals(Verdict.CORRUPT, result.verdict());
    Throwable refusal = result.failure();
    assertTrue(refusal != null && subject.refuses(refusal), result::toString);
    assertTrue(result.findings().isEmpty(), result::toString);
    assertTrue(refusal.getMessage().contains("at byte " + SPACE_MAP), refusal.getMessage());
  }
}
