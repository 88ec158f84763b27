package org.revenantdb.suite.crash;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.disk.MemoryFileSystem;
import org.revenantdb.chaos.oracle.PromiseLog;
import org.revenantdb.chaos.power.Losses;
import org.revenantdb.chaos.power.NodePaths;
import org.revenantdb.chaos.power.PowerCut;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.chaos.recording.RecordingFileSystem;
import org.revenantdb.chaos.run.LifeRecorder;
import org.revenantdb.chaos.run.Recording;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.chaos.trace.Operation;
import org.revenantdb.engine.Database;

/**
 * Recordings in which forces are needed that ordinary lives do not need: each is made for one
 * reason to force.
 */
final class CoverageLives {

  private static final String DATA = "db/revenant.data";
  private static final int SECTOR = 512;
  private static final int PAGE = 16 * SECTOR;

  /** Before these pages are the header and the control slots. */
  private static final int FIRST = 3;

  private static final int TORN = 4;

  private CoverageLives() {}

  /** All of them. */
  static List<Recording> record(long seed, Duration limit) throws IOException {
    List<Recording> all = new ArrayList<>();
    // The control slot of a checkpoint: a segment needed only by the slot before it is recycled.
    all.add(new LifeRecorder<>(RecyclingSubject::new, seed, 2, limit).record());
    // The creation of a segment: records that refer to it are durable before it is written to.
    all.add(new LifeRecorder<>(SegmentAheadSubject::new, seed, 1, limit).record());
    // The double-write file after it was switched off: its content must not repair anything.
    Recording switchedOff = new LifeRecorder<>(SwitchOffSubject::new, seed, 2, limit).record();
    all.add(switchedOff);
    // The pages it repaired: they have no other copy once it is switched off.
    all.addAll(tornThenSwitchedOff(seed, limit));
    return all;
  }

  /**
   * The power fails while a batch is written to its places, every other sector of each page. The
   * next life repairs them and continues without the double-write file.
   */
  static List<Recording> tornThenSwitchedOff(long seed, Duration limit) throws IOException {
    Recording life = new LifeRecorder<>(SwitchOffSubject::new, seed, 1, limit).record();
    List<Recording> result = new ArrayList<>();
    if (!life.usable()) {
      return result;
    }
    PowerCut cut = new PowerCut(life.trace(), PlatformProfile.STRICT_POSIX.rules());
    NodePaths paths = new NodePaths(life.trace());
    for (Operation operation : life.trace().operations().reversed()) {
      if (result.size() < TORN
          && operation instanceof Operation.Force force
          && paths.path(force.node(), force.seq()).equals(DATA)) {
        List<Operation.Write> batch = batchOf(cut.pending(force.seq()), force.node());
        if (!batch.isEmpty()) {
          result.add(goOn(life, force.seq(), torn(cut, force.seq(), batch), seed));
        }
      }
    }
    return result;
  }

  /** Pending writes of pages to the data file. */
  private static List<Operation.Write> batchOf(List<Operation> pending, int data) {
    List<Operation.Write> writes = new ArrayList<>();
    for (Operation operation : pending) {
      if (operation instanceof Operation.Write write
          && write.node() == data
          && write.offset() >= FIRST * PAGE
          && write.offset() % PAGE == 0
          && write.data().length % PAGE == 0) {
        writes.add(write);
      }
    }
    return writes;
  }

  private static DiskImage torn(PowerCut cut, long seq, List<Operation.Write> batch) {
    DiskImage image = cut.state(seq, Losses.none()).image();
    DiskImage before = cut.state(seq, Losses.of(batch)).image();
    for (Operation.Write write : batch) {
      for (long at = write.offset() + SECTOR;
          at < write.offset() + write.data().length;
          at += 2 * SECTOR) {
        if (at + SECTOR <= before.file(write.node()).size()) {
          byte[] old = before.file(write.node()).bytes(at, SECTOR);
          image.file(write.node()).write(at, ByteBuffer.wrap(old));
        }
      }
    }
    return image;
  }

  private static Recording goOn(Recording life, long seq, DiskImage image, long seed)
      throws IOException {
    RecordingFileSystem disk = RecordingFileSystem.over(MemoryFileSystem.of(image).root()).start();
    PromiseLog promises = life.promises().before(seq);
    SwitchOffSubject subject = new SwitchOffSubject();
    try (Database db = subject.open(disk.directory())) {
      subject.work(db, promises.promises(disk.clock(), seed + seq));
    }
    return new Recording(disk.trace(), promises, Verdict.SURVIVED, "", disk.clock().next());
  }
}
