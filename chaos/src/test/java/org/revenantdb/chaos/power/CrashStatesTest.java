package org.revenantdb.chaos.power;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.chaos.disk.DiskImage.ROOT;
import static org.revenantdb.chaos.power.TraceScript.bytes;
import static org.revenantdb.chaos.profile.PlatformProfile.EXT4_ORDERED;
import static org.revenantdb.chaos.profile.PlatformProfile.SECTOR_512;
import static org.revenantdb.chaos.profile.PlatformProfile.STRICT_POSIX;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.trace.Operation;

/**
 * Which states are built and in which order, the states for dropped forces, and how failures
 * shrink.
 */
class CrashStatesTest {

  private final TraceScript disk = new TraceScript();

  private static List<CrashState> all(Iterator<CrashState> states) {
    List<CrashState> result = new ArrayList<>();
    states.forEachRemaining(result::add);
    return result;
  }

  private static List<String> words(List<CrashState> states) {
    return states.stream().map(state -> TraceScript.describe(state.image())).toList();
  }

  /** A log of records, each forced, and a file of pages that is never forced. */
  private void manyWrites(int count) {
    int log = disk.given("log", bytes('l', 10));
    int pages = disk.given("pages", bytes('p', 64 * 512));
    for (int i = 0; i < count; i++) {
      disk.write(log, 10 + i * 100L, bytes((char) ('a' + i % 26), 100));
      disk.force(log);
      disk.write(pages, i % 60 * 512L, bytes((char) ('A' + i % 26), 2048));
    }
  }

  @Test
  void samePlan_sameStates() {
    manyWrites(100);
    CrashPlan plan = CrashPlan.of(3, 200);
    List<CrashState> one = all(new CrashStates(disk.trace(), SECTOR_512.rules(), plan));
    List<CrashState> other = all(new CrashStates(disk.trace(), SECTOR_512.rules(), plan));
    assertEquals(words(one), words(other));
    List<CrashState> another =
        all(new CrashStates(disk.trace(), SECTOR_512.rules(), CrashPlan.of(4, 200)));
    assertFalse(words(one).equals(words(another)));
  }

  @Test
  void longTrace_statesAreSpreadOverAllOfIt() {
    manyWrites(300);
    CrashStates states = new CrashStates(disk.trace(), SECTOR_512.rules(), CrashPlan.of(1, 600));
    int[] perTenth = new int[10];
    int count = 0;
    while (states.hasNext()) {
      perTenth[(int) (states.next().seq() * 10 / (disk.end() + 1))]++;
      count++;
    }
    assertEquals(600, count);
    assertEquals(600, states.distinct());
    for (int tenth : perTenth) {
      assertTrue(tenth >= 30, () -> Arrays.toString(perTenth));
    }
    assertThrows(NoSuchElementException.class, states::next);
  }

  @Test
  void newestWriteAcrossAUnit_isTornAtBothEnds_beforeRandomLosses() {
    int file = disk.given("f", bytes('o', 1024));
    Operation first = disk.write(file, 0, bytes('a', 8));
    Operation torn = disk.write(file, 500, bytes('n', 24));
    for (long seed = 0; seed < 20; seed++) {
      CrashPlan plan = CrashPlan.of(seed, 12).exhaustiveTo(0);
      List<String> found =
          all(new CrashStates(disk.trace(), SECTOR_512.rules(), plan)).stream()
              .filter(state -> state.seq() > torn.seq() && !state.losses().lost(first))
              .map(state -> TraceScript.describe(state.image()))
              .toList();
      assertTrue(found.contains("f=a*8 o*492 n*12 o*512"), found::toString);
      assertTrue(found.contains("f=a*8 o*504 n*12 o*500"), found::toString);
    }
  }

  @Test
  void story_ofAStateWithNothingLost_endsWithTheLastOperationAndItsStack() {
    int file = disk.given("f", bytes('o', 512));
    disk.write(file, 0, bytes('n', 8));
    CrashState state =
        new PowerCut(disk.trace(), SECTOR_512.rules()).state(disk.end(), Losses.none());
    assertTrue(
        state.losses().story().contains("there, and nothing after it: write f 0+8"),
        () -> state.losses().story());
  }

  @Test
  void images_areIndependent() {
    manyWrites(30);
    CrashStates states = new CrashStates(disk.trace(), SECTOR_512.rules(), CrashPlan.of(1, 300));
    List<CrashState> kept = new ArrayList<>();
    List<String> before = new ArrayList<>();
    while (states.hasNext()) {
      CrashState state = states.next();
      kept.add(state);
      before.add(TraceScript.describe(state.image()));
      DiskImage other = state.image().fork();
      other.file(2).zero(0, other.file(2).size());
      other.file(1).setSize(0);
    }
    assertEquals(before, words(kept));
  }

  @Test
  void equalImage_isBuiltForTheFewestAndForTheMostPromises() {
    int file = disk.given("f", bytes('o', 512));
    disk.write(file, 0, bytes('n', 512));
    long promise = disk.tick();
    disk.force(file);
    CrashPlan plan = CrashPlan.of(1, 100);
    CrashStates quiet = new CrashStates(disk.trace(), EXT4_ORDERED.rules(), plan);
    assertEquals(2, all(quiet).size());
    CrashStates promising =
        new CrashStates(disk.trace(), EXT4_ORDERED.rules(), plan.preferring(List.of(promise)));
    List<CrashState> states = all(promising);
    assertEquals(4, states.size());
    assertEquals(2, promising.distinct());
    assertEquals(2, states.stream().filter(state -> state.seq() == promise + 1).count());
  }

  @Test
  void equalImage_isBuiltAgainAfterAPromise() {
    int file = disk.given("f", bytes('o', 1024));
    disk.write(file, 0, bytes('n', 512));
    disk.write(file, 512, bytes('n', 512));
    long promise = disk.tick();
    CrashStates states =
        new CrashStates(
            disk.trace(), EXT4_ORDERED.rules(), CrashPlan.of(1, 100).preferring(List.of(promise)));
    List<CrashState> allLost =
        all(states).stream()
            .filter(state -> state.image().file(file).bytes(0, 1)[0] == 'o')
            .filter(state -> state.image().file(file).bytes(512, 1)[0] == 'o')
            .toList();
    assertEquals(2, allLost.size());
    assertEquals(promise + 1, allLost.getLast().seq());
  }

  @Test
  void droppedForce_losesFirstWhatOnlyItMadeDurable() {
    int log = disk.given("log", bytes('l', 512));
    int pages = disk.given("pages", bytes('p', 512));
    disk.write(pages, 0, bytes('P', 512));
    Operation one = disk.write(log, 512, bytes('a', 512));
    Operation two = disk.write(log, 1024, bytes('b', 512));
    Operation.Force dropped = disk.force(log);
    long promise = disk.tick();
    disk.write(log, 1536, bytes('c', 512));
    disk.force(log);
    AimedStates states =
        new AimedStates(
            disk.trace(),
            SECTOR_512.rules(),
            CrashPlan.of(1, 100).preferring(List.of(promise)).dropping(dropped::equals));
    List<CrashState> all = all(states);
    assertEquals("log=l*512, pages=P*512", TraceScript.describe(all.getFirst().image()));
    assertEquals(List.of(one, two), all.getFirst().losses().operations());
    assertEquals("log=l*512, pages=p*512", TraceScript.describe(all.get(1).image()));
    assertTrue(words(all).contains("log=l*512 a*512, pages=P*512"));
    assertTrue(all.stream().anyMatch(state -> state.seq() == promise + 1));
    assertTrue(all.stream().allMatch(state -> state.seq() > dropped.seq()));
  }

  @Test
  void droppedForceOfACopy_isDetectedByATornPage_howeverManyPlacesThereAre() {
    int log = disk.given("log", bytes('l', 10));
    int copies = disk.given("copies", bytes('o', 8192));
    int pages = disk.given("pages", bytes('p', 8192));
    Set<Operation.Force> dropped = new HashSet<>();
    for (int i = 0; i < 20; i++) {
      disk.write(log, 10 + i * 100L, bytes((char) ('a' + i), 100));
      disk.force(log);
      disk.write(copies, 0, bytes((char) ('a' + i), 8192));
      dropped.add(disk.force(copies));
      disk.write(pages, 0, bytes((char) ('a' + i), 8192));
      disk.force(pages);
      disk.write(copies, 0, bytes('0', 512));
    }
    int torn = 0;
    for (int round = 0; round < 40; round++) {
      AimedStates states =
          new AimedStates(
              disk.trace(),
              STRICT_POSIX.rules(),
              CrashPlan.of(round, 24).dropping(dropped::contains));
      for (CrashState state : all(states)) {
        Predicate<Operation.Write> of =
            write -> write.node() == pages && state.losses().torn(write);
        boolean tornPage =
            state.losses().operations().stream()
                .anyMatch(one -> one instanceof Operation.Write write && of.test(write));
        boolean noCopy =
            state.losses().operations().stream()
                .anyMatch(one ->
                    one instanceof Operation.Write write
                        && write.node() == copies
                        && state.losses().lost(write));
        torn += tornPage && noCopy ? 1 : 0;
      }
    }
    assertTrue(torn > 0, "not once in forty rounds");
  }

  @Test
  void droppedForce_thatMadeNothingDurable_givesNoStates() {
    int log = disk.given("log", bytes('l', 512));
    disk.write(log, 0, bytes('a', 512));
    disk.force(log);
    Operation.Force useless = disk.force(log);
    disk.write(log, 0, bytes('b', 512));
    CrashPlan plan = CrashPlan.of(1, 100).dropping(useless::equals);
    assertFalse(new AimedStates(disk.trace(), EXT4_ORDERED.rules(), plan).hasNext());
  }

  @Test
  void failure_shrinksToTheOneWriteThatMatters() {
    manyWrites(40);
    PowerCut cut = new PowerCut(disk.trace(), SECTOR_512.rules());
    List<Operation> pending = cut.pending(disk.end());
    assertTrue(pending.size() > 30);
    CrashState failing = cut.state(disk.end(), Losses.of(pending));
    int[] asked = {0};
    Predicate<DiskImage> lacksThirtieth =
        image -> {
          asked[0]++;
          boolean fails = image.file(2).bytes(29 * 512, 1)[0] == 'p';
          image.file(2).zero(0, 64 * 512);
          return fails;
        };
    CrashState smallest = Shrinker.shrink(cut, failing, lacksThirtieth, 200);
    assertTrue(asked[0] <= 200);
    // The unit at 29 * 512 is touched by the writes 26 to 29; all of them must be gone in it.
    assertEquals(4, smallest.losses().operations().size(), smallest.losses()::story);
    assertTrue(lacksThirtieth.test(smallest.image().fork()));
  }

  @Test
  void tornWrite_thatMustBeTorn_shrinksToOneUnit() {
    int file = disk.given("f", bytes('o', 4096));
    disk.write(file, 0, bytes('n', 4096));
    PowerCut cut = new PowerCut(disk.trace(), STRICT_POSIX.rules());
    CrashStates states = new CrashStates(disk.trace(), STRICT_POSIX.rules(), CrashPlan.of(5, 200));
    Predicate<DiskImage> torn = image -> TraceScript.describe(image).contains(" ");
    CrashState failing =
        all(states).stream().filter(s -> torn.test(s.image())).findFirst().orElseThrow();
    CrashState smallest = Shrinker.shrink(cut, failing, torn, 100);
    assertTrue(smallest.losses().story().contains("of 8 lost"), () -> smallest.losses().story());
    assertTrue(torn.test(smallest.image()));
  }

  @Test
  void shrinking_withoutTrials_returnsTheState() {
    int file = disk.given("f", bytes('o', 512));
    Operation write = disk.write(file, 0, bytes('n', 512));
    PowerCut cut = new PowerCut(disk.trace(), STRICT_POSIX.rules());
    CrashState failing = cut.state(disk.end(), Losses.of(List.of(write)));
    assertEquals(failing, Shrinker.shrink(cut, failing, _ -> true, 0));
  }

  @Test
  void lossesOfAFileThatIsGone_areNotPartOfTheStory() {
    int file = disk.create(ROOT, "f");
    disk.write(file, 0, bytes('n', 512));
    PowerCut cut = new PowerCut(disk.trace(), EXT4_ORDERED.rules());
    List<Operation> pending = cut.pending(disk.end());
    CrashState state = cut.state(disk.end(), Losses.of(pending));
    assertEquals(2, pending.size());
    assertEquals(List.of(pending.getFirst()), state.losses().operations());
  }

  @Test
  void impossibleTrace_isRefused() {
    disk.write(17, 0, bytes('n', 1));
    CrashStates states = new CrashStates(disk.trace(), EXT4_ORDERED.rules(), CrashPlan.of(1, 9));
    assertThrows(IllegalArgumentException.class, states::hasNext);
  }
}
