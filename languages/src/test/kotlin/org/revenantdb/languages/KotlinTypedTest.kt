package org.revenantdb.languages

import java.nio.file.Path
import java.time.Duration
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir
import org.revenantdb.collections.Codecs
import org.revenantdb.collections.DuplicateKeyException
import org.revenantdb.collections.Index
import org.revenantdb.collections.Keys
import org.revenantdb.collections.TypedTable
import org.revenantdb.collections.WorkQueue
import org.revenantdb.engine.Database
import org.revenantdb.engine.DatabaseOptions

/** Typed tables in Kotlin. */
class KotlinTypedTest {
  @TempDir private lateinit var folder: Path

  private fun open() = Database.open(folder.resolve("db"), DatabaseOptions.defaults().withPoolBytes(4L shl 20))

  @JvmRecord data class Customer(val name: String, val city: String, val mail: String)

  private fun customers(db: Database) = TypedTable.open(db, "customers", Keys.longs(), Codecs.records(Customer::class.java))

  @Test
  fun `a data class is a row, and indexes follow it`() {
    open().use { db ->
      val customers = customers(db)
      val byMail = customers.index("by mail", Index.unique(Keys.strings(), Customer::mail))
      val byCity = customers.index("by city", Index.of(Keys.strings(), Customer::city))
      db.run { tx ->
        customers.put(tx, 1, Customer("Ada", "London", "ada@example.org"))
        customers.put(tx, 2, Customer("Bob", "London", "bob@example.org"))
        assertNull(customers.get(tx, 3))
      }
      val name: String? = db.read { tx -> byMail.get(tx, "bob@example.org")?.value()?.name }
      assertEquals("Bob", name)
      val keys = db.read { tx -> byCity.scan(tx).equalTo("London").stream().use { rows -> rows.map { it.key() }.toList() } }
      assertEquals(listOf(1L, 2L), keys)
      assertThrows(DuplicateKeyException::class.java) {
        db.run { tx -> customers.put(tx, 4, Customer("Eve", "Rome", "ada@example.org")) }
      }
      db.read { tx -> assertEquals(listOf<String>(), customers.check(tx)) }
    }
  }

  @Test
  fun `maps, ranges and changes by functions`() {
    open().use { db ->
      val counts = TypedTable.open(db, "counts", Keys.strings(), Codecs.longs())
      val map = counts.asMap()
      map["a"] = 1
      map.merge("a", 2L, Long::plus)
      map["b"] = 5
      assertEquals(mapOf("a" to 3L, "b" to 5L), HashMap(map))
      db.run { tx -> counts.compute(tx, "c") { _, before -> (before ?: 0) + 7 } }
      val sum = db.read { tx -> counts.scan(tx).atLeast("b").stream().use { rows -> rows.mapToLong { it.value() }.sum() } }
      assertEquals(12L, sum)
      assertEquals(3L, counts.merger(Long::plus).merge("d", 3))
    }
  }

  @Test
  fun `a queue gives its items`() {
    open().use { db ->
      WorkQueue.open(db, "jobs", Codecs.strings()).use { jobs ->
        db.run { tx -> jobs.offer(tx, "one") }
        val delivery = jobs.take()
        assertEquals("one", delivery?.item())
        db.run { tx -> delivery?.acknowledge(tx) }
        assertNull(jobs.poll(Duration.ZERO))
      }
    }
  }
}
