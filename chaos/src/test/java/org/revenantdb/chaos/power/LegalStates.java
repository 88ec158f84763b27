package org.revenantdb.chaos.power;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.profile.DiskRules;
import org.revenantdb.chaos.profile.DiskRules.Names;
import org.revenantdb.chaos.profile.DiskRules.Size;
import org.revenantdb.chaos.trace.Operation;
import org.revenantdb.chaos.trace.Trace;

/**
 * Every state that docs/chaos.md §3 allows at one crash point, computed by trying all choices of
 * versions and dropping those that break a rule. Slow, for traces of a dozen operations. It shares
 * no code with the classes under test.
 */
final class LegalStates {

  /** Legal images in words, see {@link TraceScript#describe}. */
  final Set<String> all = new HashSet<>();

  /** Those in which every operation is there or missing as a whole. */
  final Set<String> whole = new HashSet<>();

  private final DiskRules rules;
  private final DiskImage start;
  private final List<Operation> past;
  private final List<Operation.Force> forces = new ArrayList<>();
  private final List<Operation.ForceFailed> failures = new ArrayList<>();

  /** A content and whether it tears an operation. */
  private record Choice(String text, boolean whole) {}

  LegalStates(Trace trace, DiskRules rules, long crashPoint) {
    this.rules = rules;
    this.start = trace.start();
    this.past = trace.operations().stream().filter(op -> op.seq() < crashPoint).toList();
    for (Operation op : past) {
      if (op instanceof Operation.Force force) {
        forces.add(force);
      } else if (op instanceof Operation.ForceFailed failure) {
        failures.add(failure);
      }
    }
    switch (rules.names()) {
      case AT_ONCE -> combine(tree(half -> true), Long.MAX_VALUE, true);
      case JOURNALED -> {
        long journal = journal();
        Set<Long> cuts = new TreeSet<>(Set.of(Long.MAX_VALUE));
        listed().stream().filter(place -> place > journal).forEach(cuts::add);
        for (long cut : cuts) {
          combine(tree(half -> half.op.seq() < cut), cut, true);
        }
      }
      case INDEPENDENT -> independent();
    }
  }

  // ---- names

  /** A change of entries; a rename of a file between directories is two. */
  private record Half(Operation op, Map<String, Integer> effects, Set<Integer> directories) {}

  private interface Kept {
    boolean keeps(Half half);
  }

  private List<Half> halves() {
    Set<Integer> directories = new HashSet<>();
    for (int node : start.nodes()) {
      if (start.isDirectory(node)) {
        directories.add(node);
      }
    }
    List<Half> halves = new ArrayList<>();
    for (Operation op : past) {
      switch (op) {
        case Operation.Create o -> {
          if (o.directory()) {
            directories.add(o.node());
          }
          halves.add(half(op, o.parent(), o.name(), o.node()));
        }
        case Operation.Link o -> halves.add(half(op, o.parent(), o.name(), o.node()));
        case Operation.Delete o -> halves.add(half(op, o.parent(), o.name(), Operation.NO_NODE));
        case Operation.Rename o -> {
          Half gone = half(op, o.fromParent(), o.fromName(), Operation.NO_NODE);
          Half come = half(op, o.toParent(), o.toName(), o.node());
          if (o.fromParent() != o.toParent()
              && rules.names() == Names.INDEPENDENT
              && !directories.contains(o.node())) {
            halves.add(gone);
            halves.add(come);
          } else {
            Map<String, Integer> both = new TreeMap<>(gone.effects);
            both.putAll(come.effects);
            halves.add(
                new Half(
                    op,
                    both,
                    Set.copyOf(
                        List.of(o.fromParent(), o.toParent()).stream().distinct().toList())));
          }
        }
        default -> {}
      }
    }
    return halves;
  }

  private static Half half(Operation op, int directory, String name, int node) {
    return new Half(op, Map.of(directory + "/" + name, node), Set.of(directory));
  }

  /** Directory and name to node, of everything, reachable or not. */
  private SortedMap<String, Integer> tree(Kept kept) {
    SortedMap<String, Integer> entries = new TreeMap<>();
    for (int node : start.nodes()) {
      if (start.isDirectory(node)) {
        start.entries(node).forEach((name, child) -> entries.put(node + "/" + name, child));
      }
    }
    for (Half half : halves()) {
      if (kept.keeps(half)) {
        half.effects.forEach((entry, node) -> {
          if (node == Operation.NO_NODE) {
            entries.remove(entry);
          } else {
            entries.put(entry, node);
          }
        });
      }
    }
    return entries;
  }

  private void independent() {
    List<Half> halves = halves();
    Set<Integer> durable = new HashSet<>();
    for (int i = halves.size() - 1; i >= 0; i--) {
      Half half = halves.get(i);
      boolean taken = false;
      for (int later : durable) {
        taken |= later > i && sameEntry(half, halves.get(later));
      }
      for (int directory : half.directories) {
        taken |= forced(directory, half.op.seq());
      }
      if (taken) {
        durable.add(i);
      }
    }
    for (long set = 0; set < 1L << halves.size(); set++) {
      if (isLegal(halves, set, durable)) {
        boolean torn = false;
        for (int i = 1; i < halves.size(); i++) {
          torn |=
              halves.get(i).op == halves.get(i - 1).op && (set >> i & 1) != (set >> (i - 1) & 1);
        }
        Set<Half> kept = new LinkedHashSet<>();
        for (int i = 0; i < halves.size(); i++) {
          if ((set >> i & 1) != 0) {
            kept.add(halves.get(i));
          }
        }
        combine(tree(kept::contains), Long.MAX_VALUE, !torn);
      }
    }
  }

  private static boolean isLegal(List<Half> halves, long set, Set<Integer> durable) {
    for (int i = 0; i < halves.size(); i++) {
      boolean there = (set >> i & 1) != 0;
      if (!there && durable.contains(i)) {
        return false;
      }
      for (int j = 0; j < i; j++) {
        if (there && (set >> j & 1) == 0 && sameEntry(halves.get(i), halves.get(j))) {
          return false;
        }
      }
    }
    return true;
  }

  private static boolean sameEntry(Half one, Half other) {
    return one.effects.keySet().stream().anyMatch(other.effects::containsKey);
  }

  /** Whether a force of a node covers a place and no force of it failed before. */
  private boolean forced(int node, long place) {
    return forces.stream()
        .anyMatch(f -> f.node() == node && f.since() > place && !stuck(node, place, f.seq()));
  }

  /**
   * Whether, before a place, a force failed that should have written the operation at another
   * place.
   */
  private boolean stuck(int node, long place, long before) {
    return failures.stream()
        .anyMatch(f ->
            f.node() == node
                && f.since() > place
                && f.seq() < before
                && forces.stream()
                    .noneMatch(good ->
                        !good.isOfOneWrite()
                            && good.node() == node
                            && good.since() > place
                            && good.seq() < f.seq()));
  }

  // ---- the journal

  private Set<Long> listed() {
    Set<Long> places = new TreeSet<>();
    halves().forEach(half -> places.add(half.op.seq()));
    for (int node : files()) {
      History history = new History(node);
      for (int i = 1; i < history.ops.size(); i++) {
        if (history.isListed(i)) {
          places.add(history.place(i));
        }
      }
    }
    return places;
  }

  private long journal() {
    long journal = -1;
    for (Operation.Force force : forces) {
      for (Half half : halves()) {
        boolean own = false;
        switch (half.op) {
          case Operation.Create o -> own = o.node() == force.node() || o.parent() == force.node();
          case Operation.Link o ->
              own = (force.metadata() && o.node() == force.node()) || o.parent() == force.node();
          case Operation.Delete o ->
              own = (force.metadata() && o.node() == force.node()) || o.parent() == force.node();
          case Operation.Rename o ->
              own =
                  (force.metadata() && o.node() == force.node())
                      || o.fromParent() == force.node()
                      || o.toParent() == force.node();
          default -> {}
        }
        if (own && half.op.seq() < force.since()) {
          journal = Math.max(journal, half.op.seq());
        }
      }
      if (files().contains(force.node())) {
        History history = new History(force.node());
        int crossing = force.isOfOneWrite() ? history.crossing(force) : history.ops.size();
        for (int i = 1; i < history.ops.size(); i++) {
          if (history.resizes(i)
              && history.place(i) < force.since()
              && (i <= crossing || history.isListed(i))) {
            journal = Math.max(journal, history.place(i));
          }
        }
      }
    }
    return journal;
  }

  // ---- bytes and sizes

  private Set<Integer> files() {
    Set<Integer> files = new TreeSet<>();
    for (int node : start.nodes()) {
      if (!start.isDirectory(node)) {
        files.add(node);
      }
    }
    for (Operation op : past) {
      if (op instanceof Operation.Create create && !create.directory()) {
        files.add(create.node());
      }
    }
    return files;
  }

  /** A file after each of its operations; 0 is the start. */
  private final class History {

    final List<Operation> ops = new ArrayList<>();
    final List<byte[]> after = new ArrayList<>();
    final int node;

    History(int node) {
      this.node = node;
      ops.add(
          new Operation.Truncate(
              new Operation.Origin(-1, 0, "", org.revenantdb.chaos.trace.CallStack.UNKNOWN),
              node,
              0));
      after.add(
          start.exists(node)
              ? start.file(node).bytes(0, (int) start.file(node).size())
              : new byte[0]);
      for (Operation op : past) {
        byte[] now = after.getLast();
        if (op instanceof Operation.Write write
            && write.node() == node
            && write.data().length > 0) {
          now = Arrays.copyOf(now, (int) Math.max(now.length, write.end()));
          System.arraycopy(write.data(), 0, now, (int) write.offset(), write.data().length);
        } else if (op instanceof Operation.Truncate cut
            && cut.node() == node
            && cut.size() < now.length) {
          now = Arrays.copyOf(now, (int) cut.size());
        } else {
          continue;
        }
        ops.add(op);
        after.add(now);
      }
    }

    long place(int i) {
      return ops.get(i).seq();
    }

    int size(int i) {
      return after.get(i).length;
    }

    boolean resizes(int i) {
      return size(i) != size(i - 1);
    }

    boolean grows(int i) {
      return size(i) > size(i - 1);
    }

    boolean cuts(int i) {
      return ops.get(i) instanceof Operation.Truncate;
    }

    /** The operation that a force covers alone; 0 if it changed no file. */
    int only(Operation.Force force) {
      for (int i = 1; i < ops.size(); i++) {
        if (place(i) == force.only()) {
          return i;
        }
      }
      return 0;
    }

    /** To the end of the last unit that the write touches, or of the file. */
    int needed(Operation.Force force) {
      int write = only(force);
      int end = 0;
      while (end < to(write)) {
        end += rules.unit();
      }
      return Math.min(size(write), end);
    }

    /** The last operation before which the file was too short for the write that is forced. */
    int crossing(Operation.Force force) {
      int crossing = 0;
      for (int i = 1; i <= only(force); i++) {
        crossing = resizes(i) && size(i - 1) < needed(force) ? i : crossing;
      }
      return crossing;
    }

    /** Whether the size after an operation, all of it, is durable by a synchronous write. */
    boolean sizeCoveredBy(Operation.Force force, int i) {
      int write = only(force);
      if (i > write) {
        return false;
      }
      int crossing = crossing(force);
      boolean all = rules.size() == Size.BEFORE_DATA;
      boolean later = false;
      for (int j = i; j <= write; j++) {
        later |= cuts(j) && (force.metadata() || rules.size() != Size.ANY);
      }
      return all || later || i < crossing || (i == crossing && size(i) == needed(force));
    }

    /** How far a size is durable although the whole size after an operation is not. */
    int reached(int i, long before) {
      int reached = 0;
      for (Operation.Force force : forces) {
        if (force.node() == node && force.isOfOneWrite() && force.seq() < before) {
          boolean part = i > 0 && crossing(force) == i && !sizeCoveredBy(force, i);
          reached = part ? Math.max(reached, needed(force)) : reached;
        }
      }
      return reached;
    }

    /**
     * Whether no size waits for the bytes of a unit because a synchronous write made it durable.
     */
    boolean isExempt(int i, int begins, long before) {
      for (Operation.Force force : forces) {
        if (force.node() == node
            && force.isOfOneWrite()
            && force.seq() < before
            && sizeCoveredBy(force, i)) {
          return true;
        }
      }
      return begins < reached(i, before);
    }

    /** Whether a synchronous write makes the content of a unit after an operation durable. */
    boolean unitCoveredBy(Operation.Force force, int i, int unit) {
      if (i > only(force)) {
        return false;
      }
      if (i == only(force) || (cuts(i) && sizeCoveredBy(force, i))) {
        return true;
      }
      int begins = unit * rules.unit();
      boolean appended = grows(i) && begins + rules.unit() > size(i - 1);
      for (int cut = i + 1; cut <= only(force); cut++) {
        if (rules.size() == Size.AFTER_DATA
            && cuts(cut)
            && sizeCoveredBy(force, cut)
            && appended
            && begins < size(cut)
            && !stuck(node, place(i), force.seq())
            && !isExempt(i, begins, force.seq())) {
          return true;
        }
      }
      return false;
    }

    boolean isListed(int i) {
      return rules.names() == Names.JOURNALED
          && (cuts(i) || (rules.size() == Size.BEFORE_DATA && grows(i)));
    }

    int from(int i) {
      return ops.get(i) instanceof Operation.Write write ? (int) write.offset() : size(i);
    }

    int to(int i) {
      return ops.get(i) instanceof Operation.Write write ? (int) write.end() : size(i - 1);
    }

    boolean touches(int i, int unit) {
      return from(i) < (unit + 1) * rules.unit() && to(i) > unit * rules.unit();
    }

    /**
     * Whether the bytes in a unit, or the size (no unit), of an operation are covered by a force.
     */
    boolean covered(int i, int unit) {
      boolean size = unit < 0;
      for (Operation.Force force : forces) {
        if (force.node() != node || force.since() <= place(i)) {
          continue;
        }
        if (force.isOfOneWrite()) {
          if (size ? sizeCoveredBy(force, i) : unitCoveredBy(force, i, unit)) {
            return true;
          }
          continue;
        }
        boolean trailing = cuts(i) && rules.size() == Size.ANY && !force.metadata();
        for (int j = i + 1; j < ops.size() && place(j) < force.since(); j++) {
          trailing &= !grows(j);
        }
        if (trailing || (!size && !cuts(i) && stuck(node, place(i), force.seq()))) {
          continue;
        }
        return true;
      }
      return false;
    }

    boolean isStuck(int i) {
      return !cuts(i) && stuck(node, place(i), Long.MAX_VALUE);
    }
  }

  /** The contents of a file if the journal ends at a cut. */
  private Set<Choice> contents(int node, long cut) {
    History h = new History(node);
    int units = 0;
    for (byte[] bytes : h.after) {
      units = Math.max(units, (bytes.length + rules.unit() - 1) / rules.unit());
    }
    int durableSize = 0;
    List<List<Integer>> versions = new ArrayList<>();
    for (int u = 0; u < units; u++) {
      List<Integer> some = new ArrayList<>(List.of(0));
      for (int i = 1; i < h.ops.size(); i++) {
        if (h.touches(i, u)) {
          if (h.covered(i, u)) {
            some.clear();
          }
          some.add(i);
        }
      }
      versions.add(some);
    }
    for (int i = 1; i < h.ops.size(); i++) {
      durableSize = h.resizes(i) && h.covered(i, -1) ? i : durableSize;
    }
    Set<Choice> result = new LinkedHashSet<>();
    for (int z = 0; z < h.ops.size(); z++) {
      if (z != durableSize && (z < durableSize || !h.resizes(z))) {
        continue;
      }
      if (!sizeIsLegal(h, z, durableSize, cut)) {
        continue;
      }
      Set<Integer> values =
          new TreeSet<>(List.of(z == durableSize ? durableSize(h, durableSize) : h.size(z)));
      if (z > durableSize && h.grows(z) && rules.size() == Size.AFTER_DATA) {
        for (int b = 0; b < h.size(z); b += rules.unit()) {
          if (b > h.size(z - 1) && b > h.from(z) && b > h.reached(z, Long.MAX_VALUE)) {
            values.add(b);
          }
        }
      }
      for (int value : values) {
        choose(h, versions, new int[units], 0, z, value, durableSize, result);
      }
    }
    return result;
  }

  /** The durable size: that after an operation, or the part of a later one that is durable. */
  private static int durableSize(History h, int durable) {
    int size = h.size(durable);
    for (int i = durable + 1; i < h.ops.size(); i++) {
      int reached = h.reached(i, Long.MAX_VALUE);
      size = reached > 0 ? reached : size;
    }
    return size;
  }

  private boolean sizeIsLegal(History h, int z, int durableSize, long cut) {
    if (rules.names() == Names.JOURNALED) {
      if (z > durableSize && h.place(z) >= cut) {
        return false;
      }
      for (int i = durableSize + 1; i < h.ops.size(); i++) {
        if (h.isListed(i) && h.place(i) < cut != i <= z) {
          return false;
        }
      }
      return true;
    }
    if (rules.size() == Size.BEFORE_DATA) {
      for (int i = z + 1; i < h.ops.size(); i++) {
        if (h.resizes(i)) {
          return false;
        }
      }
    }
    return true;
  }

  private void choose(
      History h,
      List<List<Integer>> versions,
      int[] v,
      int unit,
      int z,
      int value,
      int durableSize,
      Set<Choice> result) {
    if (unit < v.length) {
      for (int version : versions.get(unit)) {
        v[unit] = version;
        choose(h, versions, v, unit + 1, z, value, durableSize, result);
      }
      return;
    }
    if (!bytesAreLegal(h, versions, v, z, value, durableSize)) {
      return;
    }
    byte[] content = new byte[value];
    for (int u = 0; u < v.length; u++) {
      byte[] held = h.after.get(v[u]);
      int from = u * rules.unit();
      int length = Math.min(rules.unit(), Math.min(value, held.length) - from);
      if (length > 0) {
        System.arraycopy(held, from, content, from, length);
      }
    }
    boolean whole = value == (z == durableSize ? durableSize(h, z) : h.size(z));
    for (int i = 1; i < h.ops.size(); i++) {
      Set<Boolean> there = new HashSet<>();
      if (h.resizes(i) && i > durableSize) {
        there.add(z >= i);
      }
      for (int u = 0; u < v.length; u++) {
        if (h.touches(i, u) && versions.get(u).getFirst() < i) {
          there.add(v[u] >= i);
        }
      }
      whole &= there.size() < 2;
    }
    result.add(new Choice(TraceScript.describe(content), whole));
  }

  private boolean bytesAreLegal(
      History h, List<List<Integer>> versions, int[] v, int z, int value, int durableSize) {
    for (int u = 0; u < v.length; u++) {
      int begins = u * rules.unit();
      for (int i = 1; i < h.ops.size(); i++) {
        boolean open = h.touches(i, u) && versions.get(u).getFirst() < i;
        boolean appended = h.grows(i) && begins + rules.unit() > h.size(i - 1);
        if (rules.size() == Size.AFTER_DATA
            && open
            && appended
            && i <= z
            && begins < value
            && !h.isStuck(i)
            && !h.isExempt(i, begins, Long.MAX_VALUE)
            && v[u] < i) {
          return false;
        }
        if (rules.size() != Size.ANY && h.cuts(i)) {
          if (i <= z && open && v[u] < i) {
            return false;
          }
          if (i > z && i > durableSize && begins >= h.size(i) && v[u] >= i) {
            return false;
          }
        }
        if (rules.size() == Size.BEFORE_DATA
            && h.grows(i)
            && i > durableSize
            && v[u] == i
            && z < i) {
          return false;
        }
      }
    }
    return true;
  }

  // ---- together

  private void combine(SortedMap<String, Integer> tree, long cut, boolean whole) {
    SortedMap<String, Integer> paths = new TreeMap<>();
    walk(tree, DiskImage.ROOT, "", paths);
    Map<Integer, List<Choice>> contents = new HashMap<>();
    for (int node : paths.values()) {
      if (files().contains(node)) {
        contents.computeIfAbsent(node, n -> List.copyOf(contents(n, cut)));
      }
    }
    product(paths, List.copyOf(contents.keySet()), contents, new HashMap<>(), whole);
  }

  private static void walk(
      SortedMap<String, Integer> tree, int node, String prefix, SortedMap<String, Integer> paths) {
    String own = node + "/";
    tree.forEach((entry, child) -> {
      if (entry.startsWith(own)) {
        String path = prefix + entry.substring(own.length());
        paths.put(path, child);
        walk(tree, child, path + "/", paths);
      }
    });
  }

  private void product(
      SortedMap<String, Integer> paths,
      List<Integer> open,
      Map<Integer, List<Choice>> contents,
      Map<Integer, String> chosen,
      boolean isWhole) {
    if (!open.isEmpty()) {
      int node = open.getFirst();
      for (Choice choice : contents.getOrDefault(node, List.of())) {
        chosen.put(node, choice.text);
        product(paths, open.subList(1, open.size()), contents, chosen, isWhole && choice.whole);
      }
      return;
    }
    SortedMap<String, String> image = new TreeMap<>();
    paths.forEach(
        (path, node) -> image.put(path, chosen.containsKey(node) ? "=" + chosen.get(node) : "/"));
    String text = TraceScript.describe(image);
    all.add(text);
    if (isWhole) {
      whole.add(text);
    }
  }
}
