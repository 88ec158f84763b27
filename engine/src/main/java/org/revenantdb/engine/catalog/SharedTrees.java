package org.revenantdb.engine.catalog;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.page.DroppedTableRow;
import org.revenantdb.engine.page.SequenceRow;
import org.revenantdb.engine.page.SlogEntry;
import org.revenantdb.engine.page.TableRow;
import org.revenantdb.engine.version.RowReader;
import org.revenantdb.engine.version.RowScan;
import org.revenantdb.engine.version.Storage;
import org.revenantdb.recovery.file.DamagedFileException;

/**
 * Finds tables of the catalogue that share a root page or an id with another table. That is damage:
 * two tables would write one tree, and a drop of one would destroy the other. Each such table is
 * refused.
 *
 * <p>Immutable once made. It is made once in a life, from the catalogue as that life has found it:
 * tables that the life itself creates have new ids and pages.
 */
final class SharedTrees {
  /*
   * Allowed     An entry of the SLog, of a name, and that name's row may lead to the same trees, all of them
   *             (docs/format.md §1.5); no other two rows or entries share a tree. Entries of dropped tables are
   *             compared when they are carried out (DroppedTables).
   * Cost        One pass over the catalogue, before the first table of a life is found.
   */
  private static final String CURE =
      "these tables were neither read nor changed; the other tables can be used, and copied from;"
          + " restore the database from a copy";

  private record Owner(String name, TableRow trees, boolean isRow) {
    boolean mayShareWith(Owner entry) {
      return isRow
          && !entry.isRow
          && name.equals(entry.name)
          && Arrays.equals(trees.bytes(), entry.trees.bytes());
    }

    String text() {
      return (isRow ? "table " : "the entry of an uncommitted change to table ")
          + Names.of(name.getBytes(StandardCharsets.UTF_8));
    }
  }

  /** What is wrong with a table, and where. */
  private record Problem(int page, String text) {}

  private final BufferPool pool;
  private final Map<String, Problem> problems = new HashMap<>();

  private SharedTrees(BufferPool pool) {
    this.pool = pool;
  }

  /**
   * Reads all rows of the catalogue. Rows behind a page that cannot be read are not compared, so
   * that the rest of the database stays usable; a check reports the page.
   */
  static SharedTrees find(Storage storage, RowReader reader, Tree catalogue) {
    SharedTrees found = new SharedTrees(storage.pool());
    Map<Integer, Owner> roots = new HashMap<>();
    Map<Integer, Owner> ids = new HashMap<>();
    try {
      RowScan.forEach(
          storage,
          reader,
          catalogue,
          /* from= */ null,
          SequenceRow.firstKey(),
          (key, value) -> {
            Owner owner = owner(key, value);
            if (owner != null) {
              found.add(owner, roots, ids);
            }
          });
    } catch (DamagedFileException unreadable) {
      return found;
    }
    return found;
  }

  /**
   * The owner of the trees of a row. Null if the row leads to no trees of a table, or cannot be
   * decoded, which its reader reports.
   */
  private static @Nullable Owner owner(byte[] key, byte[] value) {
    if (!DroppedTableRow.isKey(key)) {
      TableRow row = TableRow.of(value);
      return row == null
          ? null
          : new Owner(new String(key, StandardCharsets.UTF_8), row, /* isRow= */ true);
    }
    SlogEntry entry = SlogEntry.of(key, value);
    return entry == null
        ? null
        : new Owner(
            new String(entry.name(), StandardCharsets.UTF_8), entry.trees(), /* isRow= */ false);
  }

  private void add(Owner owner, Map<Integer, Owner> roots, Map<Integer, Owner> ids) {
    for (int tree = 0; tree < owner.trees.trees(); tree++) {
      int root = owner.trees.root(tree);
      Owner other = roots.put(root, owner);
      if (other != null && !other.mayShareWith(owner)) {
        refuse(owner, other, root, "page " + root + " is a root page of ");
      }
      int id = owner.trees.id(tree);
      other = ids.put(id, owner);
      if (other != null && !other.mayShareWith(owner)) {
        refuse(owner, other, Catalog.ROOT, "in the catalogue, the table id " + id + " belongs to ");
      }
    }
  }

  private void refuse(Owner owner, Owner other, int page, String what) {
    Problem problem = new Problem(page, what + other.text() + " and of " + owner.text());
    problems.putIfAbsent(owner.name, problem);
    problems.putIfAbsent(other.name, problem);
  }

  /**
   * Throws if a table has a tree in common with another one.
   *
   * @throws DamagedFileException with both tables, and the page
   */
  void demandNone(String name) {
    Problem problem = problems.get(name);
    if (problem != null) {
      DamagedFileException damage = pool.damage(problem.page, problem.text);
      throw new DamagedFileException(
          damage.file(), damage.offset(), damage.reason(), CURE, /* cause= */ null);
    }
  }
}
