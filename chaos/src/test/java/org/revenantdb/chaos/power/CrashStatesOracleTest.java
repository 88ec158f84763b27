package org.revenantdb.chaos.power;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.profile.DiskRules;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.chaos.trace.Operation;
import org.revenantdb.chaos.trace.Trace;

/**
 * Small random traces, compared with {@link LegalStates}: nothing illegal is built, and no state
 * with whole operations is left out.
 */
class CrashStatesOracleTest {

  private static final int TRACES = Integer.getInteger("revenant.power.traces", 25);

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SECTOR_GARBAGE") // legal is anything there
  void randomTraces_everyStateIsLegal_everySubsetIsBuilt(PlatformProfile profile) {
    long seed = Long.getLong("revenant.power.seed", System.nanoTime() & 0xffffff);
    System.out.println(profile + ": revenant.power.seed=" + seed);
    for (int i = 0; i < TRACES; i++) {
      check(
          new RandomTrace(new Random(seed + i), profile.rules().unit()).trace(),
          profile.rules(),
          "seed " + (seed + i));
    }
  }

  private static void check(Trace trace, DiskRules rules, String seed) {
    List<Long> everywhere = new ArrayList<>();
    trace.operations().forEach(operation -> everywhere.add(operation.seq()));
    CrashStates states =
        new CrashStates(trace, rules, CrashPlan.of(7, 4000).exhaustiveTo(7).preferring(everywhere));
    Map<Long, Set<String>> built = new HashMap<>();
    Map<Long, LegalStates> legal = new HashMap<>();
    PowerCut cut = new PowerCut(trace, rules);
    int again = 0;
    while (states.hasNext()) {
      CrashState state = states.next();
      String text = TraceScript.describe(state.image());
      LegalStates here =
          legal.computeIfAbsent(state.seq(), seq -> new LegalStates(trace, rules, seq));
      built.computeIfAbsent(state.seq(), _ -> new HashSet<>()).add(text);
      if (!here.all.contains(text)) {
        throw new AssertionError(
            seed
                + ": illegal at "
                + state.seq()
                + ": "
                + text
                + "\n"
                + state.losses().story()
                + "\nlegal: "
                + String.join("\n       ", here.all)
                + "\n"
                + words(trace));
      }
      if (again++ % 5 == 0) {
        CrashState same = cut.state(state.seq(), state.losses());
        assertEquals(
            text,
            TraceScript.describe(same.image()),
            () -> seed + " " + state.losses() + "\n" + words(trace));
        assertEquals(state.losses().toString(), same.losses().toString(), seed);
      }
    }
    built.forEach((seq, texts) -> {
      Set<String> missing = new HashSet<>(legal.get(seq).whole);
      missing.removeAll(texts);
      assertTrue(
          missing.isEmpty() || cut.pending(seq).size() > 7,
          () -> seed + ": not built at " + seq + ": " + missing + "\n" + words(trace));
    });
  }

  private static String words(Trace trace) {
    StringBuilder text = new StringBuilder();
    for (Operation operation : trace.operations()) {
      text.append(operation).append('\n');
    }
    return text.toString();
  }

  /** Up to a dozen operations on a few nodes. */
  private static final class RandomTrace {

    private record Name(int parent, String name) {}

    private final TraceScript script = new TraceScript();
    private final Random random;
    private final int unit;
    private final Map<Name, Integer> names = new HashMap<>();
    private final Map<Integer, Integer> sizes = new HashMap<>();
    private final List<Integer> directories = new ArrayList<>(List.of(DiskImage.ROOT));
    private char letter = 'a';

    RandomTrace(Random random, int unit) {
      random.nextInt(); // nearly the same in all traces: their seeds are neighbours
      this.random = random;
      this.unit = unit;
      if (random.nextBoolean()) {
        int size = random.nextInt(2 * unit) + 1;
        int node = script.given("g", TraceScript.bytes('G', size));
        names.put(new Name(DiskImage.ROOT, "g"), node);
        sizes.put(node, size);
      }
      if (random.nextBoolean()) {
        directories.add(script.givenDirectory("d"));
      }
    }

    Trace trace() {
      int count = 4 + random.nextInt(7);
      for (int i = 0; i < count; i++) {
        step();
      }
      return script.trace();
    }

    private void step() {
      switch (random.nextInt(sizes.isEmpty() ? 2 : 14)) {
        case 0, 1 -> create();
        case 2, 3, 4, 5, 6 -> write();
        case 7 -> truncate();
        case 8, 9 -> force();
        case 10 -> forceDirectory();
        case 11 -> rename();
        case 12 -> delete();
        default -> fail();
      }
    }

    private int directory() {
      return directories.get(random.nextInt(directories.size()));
    }

    private int file() {
      List<Integer> files = List.copyOf(sizes.keySet());
      return files.get(random.nextInt(files.size()));
    }

    private void create() {
      Name name = new Name(directory(), "" + "xyz".charAt(random.nextInt(3)));
      if (!names.containsKey(name) && sizes.size() < 3) {
        int node = script.create(name.parent, name.name);
        names.put(name, node);
        sizes.put(node, 0);
      }
    }

    private void write() {
      int node = file();
      int size = sizes.get(node);
      int offset =
          random.nextBoolean() ? size : random.nextInt(Math.min(size, 2 * unit) + unit / 4);
      int length = 1 + random.nextInt(random.nextBoolean() ? unit / 2 : 2 * unit);
      if (offset + length <= 4 * unit) {
        byte[] bytes = TraceScript.bytes(letter++, length);
        if (random.nextInt(4) == 0) {
          script.writeThrough(node, offset, bytes, /* metadata= */ random.nextInt(3) == 0);
        } else {
          script.write(node, offset, bytes);
        }
        sizes.merge(node, offset + length, Math::max);
      }
    }

    private void truncate() {
      int node = file();
      int size = sizes.get(node);
      if (size > 0) {
        int to = random.nextInt(3) == 0 ? size / unit * unit : random.nextInt(size);
        script.truncate(node, to);
        sizes.merge(node, to, Math::min);
      }
    }

    private void force() {
      script.force(file(), Math.max(1, script.end() - random.nextInt(3)), random.nextBoolean());
    }

    private void forceDirectory() {
      script.force(directory(), Math.max(1, script.end() - random.nextInt(2)), true);
    }

    private void fail() {
      script.forceFailed(
          random.nextInt(3) == 0 ? directory() : file(),
          Math.max(1, script.end() - random.nextInt(2)));
    }

    private void rename() {
      if (names.isEmpty()) {
        return;
      }
      Name from = anyName();
      Name to = new Name(directory(), "" + "xyzg".charAt(random.nextInt(4)));
      if (from.equals(to)) {
        return;
      }
      int node = names.remove(from);
      Integer replaced = names.put(to, node);
      script.rename(
          node, from.parent, from.name, to.parent, to.name, replaced == null ? -1 : replaced);
    }

    private void delete() {
      if (!names.isEmpty()) {
        Name name = anyName();
        script.delete(names.remove(name), name.parent, name.name);
      }
    }

    private Name anyName() {
      List<Name> all = List.copyOf(names.keySet());
      return all.get(random.nextInt(all.size()));
    }
  }
}
