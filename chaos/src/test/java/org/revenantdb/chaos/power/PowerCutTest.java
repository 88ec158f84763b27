package org.revenantdb.chaos.power;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.chaos.disk.DiskImage.ROOT;
import static org.revenantdb.chaos.power.TraceScript.bytes;
import static org.revenantdb.chaos.profile.PlatformProfile.EXT4_ORDERED;
import static org.revenantdb.chaos.profile.PlatformProfile.NAMES_LOST;
import static org.revenantdb.chaos.profile.PlatformProfile.SECTOR_4K;
import static org.revenantdb.chaos.profile.PlatformProfile.SECTOR_512;
import static org.revenantdb.chaos.profile.PlatformProfile.SIZE_AFTER_DATA;
import static org.revenantdb.chaos.profile.PlatformProfile.SIZE_BEFORE_DATA;
import static org.revenantdb.chaos.profile.PlatformProfile.STRICT_POSIX;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.disk.FileContent;
import org.revenantdb.chaos.power.Losses.Loss;
import org.revenantdb.chaos.power.PendingDisk.Pending;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.chaos.trace.Operation;
import org.revenantdb.chaos.trace.Trace;

/** Traces of a few lines, with all states that they may leave, counted by hand. */
class PowerCutTest {

  /** Those without garbage, whose states can be told in advance. */
  private static final Set<PlatformProfile> EXACT =
      EnumSet.complementOf(EnumSet.of(PlatformProfile.SECTOR_GARBAGE));

  private final TraceScript disk = new TraceScript();

  /** Every state at the end of the trace, for all wanted losses. */
  private Set<String> states(PlatformProfile profile) {
    return states(profile, disk.end());
  }

  private Set<String> states(PlatformProfile profile, long crashPoint) {
    Trace trace = disk.trace();
    PowerCut cut = new PowerCut(trace, profile.rules());
    PendingDisk pending =
        new PendingDisk(trace, profile.rules(), CrashPlan.NOTHING_DROPPED, new NodePaths(trace));
    pending.advance(crashPoint);
    List<Pending> all = new ArrayList<>(pending.pending().values());
    int parts = all.stream().mapToInt(Pending::parts).sum();
    assertTrue(parts < 16, "too much to enumerate");
    Set<String> result = new TreeSet<>();
    for (int set = 0; set < 1 << parts; set++) {
      TreeMap<Long, Loss> losses = new TreeMap<>();
      int shift = 0;
      for (Pending one : all) {
        BitSet lost = BitSet.valueOf(new long[] {set >> shift & ((1 << one.parts()) - 1)});
        shift += one.parts();
        if (!lost.isEmpty()) {
          losses.put(one.operation().seq(), new Loss(one.operation(), lost));
        }
      }
      CrashState state = cut.state(crashPoint, new Losses(losses, null));
      result.add(TraceScript.describe(state.image()));
    }
    return result;
  }

  private void assertStates(PlatformProfile profile, String... expected) {
    assertEquals(new TreeSet<>(List.of(expected)), states(profile), profile.name());
  }

  @Test
  void overwriteOfOneUnit_notForced_isThereOrNot() {
    int file = disk.given("f", bytes('o', 512));
    disk.write(file, 0, bytes('n', 512));
    for (PlatformProfile profile : EXACT) {
      assertStates(profile, "f=o*512", "f=n*512");
    }
  }

  @Test
  void overwriteOfOneUnit_forced_isThere() {
    int file = disk.given("f", bytes('o', 512));
    disk.write(file, 0, bytes('n', 512));
    disk.force(file, disk.end(), /* metadata= */ false);
    for (PlatformProfile profile : EXACT) {
      assertStates(profile, "f=n*512");
    }
  }

  @Test
  void crashPoint_betweenWriteAndForce_seesTheWritePending() {
    int file = disk.given("f", bytes('o', 512));
    disk.write(file, 0, bytes('n', 512));
    Operation.Force force = disk.force(file);
    assertEquals(2, states(EXT4_ORDERED, force.seq()).size());
    assertEquals(1, states(EXT4_ORDERED, force.seq() + 1).size());
    assertEquals(Set.of("f=o*512"), states(EXT4_ORDERED, 1));
  }

  @Test
  void write_whileForceWasUnderWay_isNotCovered() {
    int file = disk.given("f", bytes('o', 1024));
    disk.write(file, 0, bytes('a', 512));
    long since = disk.tick();
    disk.write(file, 512, bytes('b', 512));
    disk.force(file, since, true);
    assertStates(SECTOR_512, "f=a*512 o*512", "f=a*512 b*512");
  }

  @Test
  void forceOfAnotherFile_coversNothing() {
    int one = disk.given("f", bytes('o', 512));
    int other = disk.given("g", bytes('o', 512));
    disk.write(one, 0, bytes('n', 512));
    disk.force(other);
    for (PlatformProfile profile : EXACT) {
      assertStates(profile, "f=o*512, g=o*512", "f=n*512, g=o*512");
    }
  }

  @Test
  void garbage_isOnlyWhereALostWriteWouldHaveChangedTheFile() {
    int file = disk.given("f", bytes('o', 4 * 512));
    disk.write(file, 0, bytes('d', 512));
    disk.force(file);
    Set<String> fates = new TreeSet<>();
    for (int write = 0; write < 20; write++) {
      disk.write(file, 700, bytes('n', 600)); // from within the second unit into the third
    }
    Trace trace = disk.trace();
    PowerCut cut = new PowerCut(trace, PlatformProfile.SECTOR_GARBAGE.rules());
    List<Operation> pending =
        trace.operations().stream().filter(Operation.Write.class::isInstance).skip(1).toList();
    for (int kept = 0; kept <= pending.size(); kept++) {
      Losses lost = Losses.of(pending.subList(kept, pending.size()));
      byte[] found = contentOf("f", cut.state(disk.end(), lost).image());
      byte[] again = contentOf("f", cut.state(disk.end(), lost).image());
      assertArrayEquals(found, again);
      byte before = (byte) (kept == 0 ? 'o' : 'n');
      for (int at = 0; at < found.length; at++) {
        boolean isWritten = at >= 700 && at < 1300;
        byte old = (byte) (at < 512 ? 'd' : isWritten ? before : 'o');
        if (!isWritten || kept == pending.size()) {
          assertEquals(old, found[at], "byte " + at);
        }
      }
      fates.add(
          found[700] == 0 && found[701] == 0
              ? "zeros"
              : found[700] == before && found[701] == before ? "old" : "garbage");
    }
    assertEquals(Set.of("garbage", "old", "zeros"), fates);
  }

  private static byte[] contentOf(String name, DiskImage image) {
    FileContent content = image.file(Objects.requireNonNull(image.paths().get(name)));
    return content.bytes(0, (int) content.size());
  }

  @Test
  void twoWritesToOneUnit_theSecondAloneIsNeverThere() {
    int file = disk.given("f", bytes('o', 512));
    disk.write(file, 0, bytes('a', 256));
    disk.write(file, 256, bytes('b', 256));
    for (PlatformProfile profile : EXACT) {
      assertStates(profile, "f=o*512", "f=a*256 o*256", "f=a*256 b*256");
    }
  }

  @Test
  void twoWritesToTwoUnits_inAnyOrder() {
    int file = disk.given("f", bytes('o', 1024));
    disk.write(file, 0, bytes('a', 512));
    disk.write(file, 512, bytes('b', 512));
    assertStates(STRICT_POSIX, "f=o*1024", "f=a*512 o*512", "f=o*512 b*512", "f=a*512 b*512");
    assertStates(EXT4_ORDERED, "f=o*1024", "f=a*512 o*512", "f=a*512 b*512");
  }

  @Test
  void writeOfTwoUnits_mayBeTorn() {
    int file = disk.given("f", bytes('o', 1024));
    disk.write(file, 0, bytes('n', 1024));
    assertStates(SECTOR_512, "f=o*1024", "f=n*512 o*512", "f=o*512 n*512", "f=n*1024");
    assertStates(SECTOR_4K, "f=o*1024", "f=n*1024");
  }

  @Test
  void append_sizeAfterData_isCutOffAtAUnit() {
    int file = disk.given("f", bytes('o', 512));
    disk.write(file, 512, bytes('n', 1000));
    assertStates(SIZE_AFTER_DATA, "f=o*512", "f=o*512 n*512", "f=o*512 n*1000");
    assertStates(SECTOR_4K, "f=o*512", "f=o*512 n*1000");
  }

  @Test
  void append_sizeBeforeData_mayBeZeros() {
    int file = disk.given("f", bytes('o', 4096));
    disk.write(file, 4096, bytes('n', 5000));
    assertStates(
        SIZE_BEFORE_DATA,
        "f=o*4096",
        "f=o*4096 0*5000",
        "f=o*4096 n*4096 0*904",
        "f=o*4096 0*4096 n*904",
        "f=o*4096 n*5000");
  }

  @Test
  void appendThatOverwrites_sizeBeforeData_hasNoBytesBeforeItsSize() {
    int file = disk.given("f", bytes('o', 100));
    disk.write(file, 50, bytes('n', 100));
    assertStates(SIZE_BEFORE_DATA, "f=o*100", "f=o*100 0*50", "f=o*50 n*100");
    assertStates(SECTOR_4K, "f=o*100", "f=o*50 n*50", "f=o*50 n*100");
  }

  @Test
  void append_anySize_mayBeShortOrZeros() {
    int file = disk.given("f", bytes('o', 512));
    disk.write(file, 512, bytes('n', 600));
    assertStates(
        STRICT_POSIX,
        "f=o*512",
        "f=o*512 0*600",
        "f=o*512 n*512 0*88",
        "f=o*512 0*512 n*88",
        "f=o*512 n*600");
  }

  @Test
  void twoAppends_sizeAfterData_theSecondNeedsTheFirst() {
    int file = disk.given("f", bytes('o', 4096));
    disk.write(file, 4096, bytes('a', 4096));
    disk.write(file, 8192, bytes('b', 4096));
    assertStates(SECTOR_4K, "f=o*4096", "f=o*4096 a*4096", "f=o*4096 a*4096 b*4096");
  }

  @Test
  void writeBehindTheEnd_leavesAHoleAndNoGarbage() {
    int file = disk.given("f", bytes('o', 100));
    disk.write(file, 4096, bytes('n', 100));
    assertStates(EXT4_ORDERED, "f=o*100", "f=o*100 0*3996 n*100");
  }

  @Test
  void renameOver_withoutForce_mayLeaveAnEmptyFileUnderTheNewName() {
    int old = disk.given("f", bytes('o', 100));
    int tmp = disk.create(ROOT, "tmp");
    disk.write(tmp, 0, bytes('n', 100));
    disk.rename(tmp, ROOT, "tmp", ROOT, "f", old);
    assertStates(EXT4_ORDERED, "f=o*100", "f=o*100, tmp=", "f=o*100, tmp=n*100", "f=", "f=n*100");
    assertStates(
        SIZE_BEFORE_DATA,
        "f=o*100",
        "f=o*100, tmp=",
        "f=o*100, tmp=n*100",
        "f=o*100, tmp=0*100",
        "f=0*100",
        "f=n*100");
    assertStates(SECTOR_4K, "f=", "f=n*100");
    assertStates(NAMES_LOST, "f=o*100", "f=o*100, tmp=", "f=o*100, tmp=n*100", "f=", "f=n*100");
  }

  @Test
  void renameOver_afterForce_isOldOrNewAndWhole() {
    int old = disk.given("f", bytes('o', 100));
    int tmp = disk.create(ROOT, "tmp");
    disk.write(tmp, 0, bytes('n', 100));
    disk.force(tmp);
    disk.rename(tmp, ROOT, "tmp", ROOT, "f", old);
    assertStates(EXT4_ORDERED, "f=o*100, tmp=n*100", "f=n*100");
    assertStates(NAMES_LOST, "f=o*100", "f=o*100, tmp=n*100", "f=n*100");
    disk.force(ROOT);
    for (PlatformProfile profile : EXACT) {
      assertStates(profile, "f=n*100");
    }
  }

  @Test
  void renamedFile_forcedWithMetadata_hasItsNewNameInAJournal() {
    int file = disk.given("f", bytes('o', 100));
    disk.rename(file, ROOT, "f", ROOT, "g", Operation.NO_NODE);
    disk.force(file, disk.end(), /* metadata= */ false);
    assertStates(EXT4_ORDERED, "f=o*100", "g=o*100");
    disk.force(file, disk.end(), /* metadata= */ true);
    assertStates(EXT4_ORDERED, "g=o*100");
    assertStates(STRICT_POSIX, "f=o*100", "g=o*100");
  }

  @Test
  void createdFile_forced_isThereInAJournalOnly() {
    int file = disk.create(ROOT, "f");
    disk.write(file, 0, bytes('n', 100));
    disk.force(file);
    assertStates(EXT4_ORDERED, "f=n*100");
    assertStates(SECTOR_4K, "f=n*100");
    assertStates(NAMES_LOST, "", "f=n*100");
    assertStates(STRICT_POSIX, "", "f=n*100");
  }

  @Test
  void journal_names_areAPrefixAndAForceIncludesTheEarlierOnes() {
    disk.create(ROOT, "a");
    int second = disk.create(ROOT, "b");
    disk.create(ROOT, "c");
    assertStates(EXT4_ORDERED, "", "a=", "a=, b=", "a=, b=, c=");
    assertEquals(8, states(NAMES_LOST).size());
    disk.force(second);
    assertStates(EXT4_ORDERED, "a=, b=", "a=, b=, c=");
    assertEquals(8, states(NAMES_LOST).size());
  }

  @Test
  void delete_notForced_mayComeBackWithItsContent() {
    int file = disk.given("f", bytes('o', 100));
    disk.delete(file, ROOT, "f");
    assertStates(EXT4_ORDERED, "f=o*100", "");
    assertStates(STRICT_POSIX, "f=o*100", "");
    assertStates(SECTOR_4K, "");
    disk.force(ROOT);
    for (PlatformProfile profile : EXACT) {
      assertStates(profile, "");
    }
  }

  @Test
  void deleteAndCreateOfOneName_areThereAsAPrefix() {
    int file = disk.given("f", bytes('o', 100));
    disk.delete(file, ROOT, "f");
    disk.create(ROOT, "f");
    assertStates(NAMES_LOST, "f=o*100", "", "f=");
    assertStates(EXT4_ORDERED, "f=o*100", "", "f=");
  }

  @Test
  void renameAndCreateOfTheOldName_theFileIsNeverWithoutAName() {
    int file = disk.given("f", bytes('o', 9));
    disk.rename(file, ROOT, "f", ROOT, "g", Operation.NO_NODE);
    disk.create(ROOT, "f");
    assertStates(NAMES_LOST, "f=o*9", "g=o*9", "f=, g=o*9");
  }

  @Test
  void renameBetweenDirectories_independentNames_mayHaveBothNamesOrNone() {
    int file = disk.given("f", bytes('o', 9));
    int directory = disk.givenDirectory("d");
    disk.rename(file, ROOT, "f", directory, "g", Operation.NO_NODE);
    assertStates(STRICT_POSIX, "d/, f=o*9", "d/, d/g=o*9", "d/, d/g=o*9, f=o*9", "d/");
    assertStates(EXT4_ORDERED, "d/, f=o*9", "d/, d/g=o*9");
    disk.force(directory);
    assertStates(STRICT_POSIX, "d/, d/g=o*9", "d/, d/g=o*9, f=o*9");
  }

  @Test
  void renameOfADirectory_isNeverInHalves() {
    int moved = disk.givenDirectory("a");
    int target = disk.givenDirectory("b");
    disk.rename(moved, ROOT, "a", target, "c", Operation.NO_NODE);
    assertStates(STRICT_POSIX, "a/, b/", "b/, b/c/");
  }

  @Test
  void directory_lost_losesItsContent() {
    int directory = disk.createDirectory(ROOT, "d");
    int file = disk.create(directory, "f");
    disk.write(file, 0, bytes('n', 9));
    disk.force(file);
    disk.force(directory);
    assertStates(NAMES_LOST, "", "d/, d/f=n*9");
    assertStates(EXT4_ORDERED, "d/, d/f=n*9");
  }

  @Test
  void truncation_notForced() {
    int file = disk.given("f", bytes('o', 1024));
    disk.truncate(file, 100);
    for (PlatformProfile profile :
        List.of(EXT4_ORDERED, SECTOR_512, SECTOR_4K, SIZE_BEFORE_DATA, NAMES_LOST)) {
      assertStates(profile, "f=o*1024", "f=o*100");
    }
    assertStates(STRICT_POSIX, "f=o*1024", "f=o*100", "f=o*100 0*924");
  }

  @Test
  void truncation_forcedWithoutMetadata_isPendingUnderStrictPosixOnly() {
    int file = disk.given("f", bytes('o', 1024));
    disk.truncate(file, 512);
    disk.write(file, 0, bytes('n', 512));
    disk.force(file, disk.end(), /* metadata= */ false);
    assertStates(SECTOR_512, "f=n*512");
    assertStates(STRICT_POSIX, "f=n*512 o*512", "f=n*512 0*512", "f=n*512");
    disk.force(file);
    assertStates(STRICT_POSIX, "f=n*512");
  }

  @Test
  void truncation_thenAppend_oldBytesNeverComeBackBelowTheNewSize() {
    int file = disk.given("f", bytes('o', 8192));
    disk.truncate(file, 0);
    disk.write(file, 0, bytes('n', 4096));
    assertStates(EXT4_ORDERED, "f=o*8192", "f=", "f=n*4096");
    assertStates(SECTOR_4K, "f=o*8192", "f=", "f=n*4096");
    assertStates(SIZE_BEFORE_DATA, "f=o*8192", "f=", "f=0*4096", "f=n*4096");
  }

  @Test
  void journal_forceOfAnotherFile_includesATruncationWithTheBytesBelowIt() {
    int file = disk.given("f", bytes('o', 100));
    disk.write(file, 4096, bytes('n', 8192));
    disk.truncate(file, 8192);
    int other = disk.create(ROOT, "g");
    disk.force(other);
    assertStates(EXT4_ORDERED, "f=o*100 0*3996 n*4096, g=");
  }

  @Test
  void failedForce_isNotRepairedByTheNext() {
    int file = disk.given("f", bytes('o', 1024));
    disk.write(file, 0, bytes('a', 512));
    disk.forceFailed(file, disk.end());
    disk.write(file, 512, bytes('b', 512));
    disk.force(file);
    assertStates(SECTOR_512, "f=o*512 b*512", "f=a*512 b*512");
  }

  @Test
  void failedForce_laterWriteOfTheUnitIncludesItsWholeContent() {
    int file = disk.given("f", bytes('o', 1024));
    disk.write(file, 0, bytes('a', 1024));
    disk.forceFailed(file, disk.end());
    disk.write(file, 0, bytes('b', 100));
    disk.force(file);
    assertStates(SECTOR_512, "f=b*100 a*412 o*512", "f=b*100 a*924");
    assertStates(SECTOR_4K, "f=b*100 a*924");
  }

  @Test
  void failedForce_ofAnAppend_theSizeComesWithoutTheBytes() {
    int file = disk.given("f", bytes('o', 4096));
    disk.write(file, 4096, bytes('a', 4096));
    disk.forceFailed(file, disk.end());
    assertStates(EXT4_ORDERED, "f=o*4096", "f=o*4096 0*4096", "f=o*4096 a*4096");
    disk.force(file);
    assertStates(EXT4_ORDERED, "f=o*4096 0*4096", "f=o*4096 a*4096");
  }

  @Test
  void failedForce_ofADirectory_isFinalIfEntriesAreIndependent() {
    disk.create(ROOT, "f");
    disk.forceFailed(ROOT, disk.end());
    disk.force(ROOT);
    assertStates(EXT4_ORDERED, "f=");
    assertStates(NAMES_LOST, "", "f=");
    disk.rename(disk.nodes(), ROOT, "f", ROOT, "g", Operation.NO_NODE);
    disk.force(ROOT);
    assertStates(NAMES_LOST, "g=");
  }

  @Test
  void a_deleted_file_that_is_open_still_moves_the_journal_when_it_is_forced() {
    int file = disk.given("f", bytes('o', 1));
    disk.delete(file, ROOT, "f");
    disk.force(ROOT);
    disk.create(ROOT, "g");
    disk.write(file, 1, bytes('n', 1));
    assertStates(EXT4_ORDERED, "", "g=");
    disk.force(file);
    assertStates(EXT4_ORDERED, "g=");
    // The same if the disk was used before, when the file was gone, and has dropped the file.
    PowerCut cut = new PowerCut(disk.trace(), EXT4_ORDERED.rules());
    assertEquals("", TraceScript.describe(cut.state(3, Losses.none()).image()));
    assertEquals(List.of(), cut.pending(disk.end()));
  }

  @Test
  void synchronousWrite_coversItsUnitsAndNoOtherOfTheFile() {
    int file = disk.given("f", bytes('o', 8192));
    disk.write(file, 100, bytes('a', 100));
    disk.write(file, 4096, bytes('b', 100));
    disk.writeThrough(file, 0, bytes('c', 100), /* metadata= */ false);
    assertStates(EXT4_ORDERED, "f=c*100 a*100 o*7992", "f=c*100 a*100 o*3896 b*100 o*3996");
    assertStates(STRICT_POSIX, "f=c*100 a*100 o*7992", "f=c*100 a*100 o*3896 b*100 o*3996");
  }

  @Test
  void synchronousAppend_includesTheSizeWithoutOtherAppends() {
    int file = disk.given("f", bytes('o', 4096));
    disk.write(file, 4096, bytes('a', 4096));
    disk.writeThrough(file, 8192, bytes('b', 10), /* metadata= */ false);
    for (PlatformProfile profile : List.of(EXT4_ORDERED, SECTOR_4K, SIZE_BEFORE_DATA)) {
      assertStates(profile, "f=o*4096 0*4096 b*10", "f=o*4096 a*4096 b*10");
    }
  }

  @Test
  void synchronousWrite_movesTheJournalNoFurtherThanItNeeds() {
    int file = disk.given("f", bytes('o', 1));
    disk.write(file, 1, bytes('a', 4095));
    disk.create(ROOT, "g");
    disk.write(file, 4096, bytes('b', 4096));
    disk.writeThrough(file, 0, bytes('c', 1), /* metadata= */ false);
    assertStates(EXT4_ORDERED, "f=c*1 a*4095", "f=c*1 a*4095, g=", "f=c*1 a*4095 b*4096, g=");
    assertStates(SIZE_BEFORE_DATA, "f=c*1 a*4095 0*4096, g=", "f=c*1 a*4095 b*4096, g=");
  }

  @Test
  void droppedForce_neverHappened() {
    int file = disk.given("f", bytes('o', 512));
    disk.write(file, 0, bytes('n', 512));
    Operation.Force force = disk.force(file);
    PowerCut cut = new PowerCut(disk.trace(), EXT4_ORDERED.rules(), force::equals);
    assertEquals(1, cut.pending(disk.end()).size());
    assertTrue(new PowerCut(disk.trace(), EXT4_ORDERED.rules()).pending(disk.end()).isEmpty());
  }

  @Test
  void story_containsThePathOfAMissingFileAtThatTime() {
    int file = disk.create(ROOT, "tmp");
    Operation write = disk.write(file, 10, bytes('n', 1000));
    Operation rename = disk.rename(file, ROOT, "tmp", ROOT, "f", Operation.NO_NODE);
    PowerCut cut = new PowerCut(disk.trace(), EXT4_ORDERED.rules());
    CrashState state = cut.state(disk.end(), Losses.of(List.of(write, rename)));
    assertEquals(
        """
        power cut at place 4, the last to begin was rename tmp to f by thread main; \
        3 operations were not durable, 2 are not whole
        lost: write tmp 10+1000 by thread main
        lost: rename tmp to f by thread main\
        """,
        state.losses().story());
    assertTrue(state.losses().lost(write));
    assertFalse(state.losses().torn(write));
    assertTrue(cut.state(disk.end(), Losses.none()).losses().isEmpty());
  }

  @Test
  void image_isIndependentOfLaterWrites() {
    int file = disk.given("f", bytes('o', 3 * 4096));
    Operation one = disk.write(file, 0, bytes('a', 4096));
    Operation two = disk.write(file, 4096, bytes('b', 4096));
    disk.write(file, 8192, bytes('c', 4096));
    long before = disk.end();
    disk.write(file, 8192, bytes('d', 4096));
    PowerCut cut = new PowerCut(disk.trace(), EXT4_ORDERED.rules());
    CrashState state = cut.state(before, Losses.of(List.of(one, two)));
    assertEquals("f=o*8192 c*4096", TraceScript.describe(state.image()));
    cut.state(disk.end(), Losses.none());
    assertEquals("f=o*8192 c*4096", TraceScript.describe(state.image()));
  }

  @Test
  void state_atAnEarlierCrashPoint_startsAgain() {
    int file = disk.given("f", bytes('o', 512));
    disk.write(file, 0, bytes('n', 512));
    PowerCut cut = new PowerCut(disk.trace(), EXT4_ORDERED.rules());
    assertEquals("f=n*512", TraceScript.describe(cut.state(2, Losses.none()).image()));
    assertEquals("f=o*512", TraceScript.describe(cut.state(1, Losses.none()).image()));
  }
}
