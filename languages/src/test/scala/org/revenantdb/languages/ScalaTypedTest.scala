package org.revenantdb.languages

import java.nio.file.Path
import scala.jdk.CollectionConverters.*
import scala.util.Using
import org.junit.jupiter.api.Assertions.{assertEquals, assertNull, assertThrows, assertTrue}
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir
import org.revenantdb.collections.{Codec, Codecs, DuplicateKeyException, Index, Keys, TypedTable}
import org.revenantdb.engine.{Database, DatabaseOptions}

/** Typed tables in Scala. A case class is no record of Java: a codec is two functions. */
class ScalaTypedTest:
  @TempDir
  private var folder: Path = scala.compiletime.uninitialized

  private case class Customer(name: String, city: String)

  private val codec: Codec[Customer] = Codec.of(
    customer => s"${customer.name}\n${customer.city}".getBytes("UTF-8"),
    bytes => { val Array(name, city) = String(bytes, "UTF-8").split("\n"): @unchecked; Customer(name, city) }
  )

  private def open(): Database =
    Database.open(folder.resolve("db"), DatabaseOptions.defaults().withPoolBytes(4L << 20))

  @Test
  def aCaseClassIsARowAndAnIndexFollowsIt(): Unit =
    Using.resource(open()): db =>
      val customers = TypedTable.open(db, "customers", Keys.longs(), codec)
      val byName = customers.index("by name", Index.unique(Keys.strings(), (it: Customer) => it.name))
      db.run: tx =>
        customers.put(tx, 1L, Customer("Ada", "London"))
        customers.put(tx, 2L, Customer("Bob", "Paris"))
      val city = db.read(tx => Option(byName.get(tx, "Bob")).map(_.value().city))
      assertEquals(Some("Paris"), city)
      assertNull(db.read(tx => customers.get(tx, 3L)))
      assertThrows(
        classOf[DuplicateKeyException],
        () => db.run(tx => customers.put(tx, 3L, Customer("Ada", "Rome")))
      )
      assertTrue(db.read(tx => customers.check(tx)).isEmpty)

  @Test
  def aMapIsAMapOfScala(): Unit =
    Using.resource(open()): db =>
      val counts = TypedTable.open(db, "counts", Keys.strings(), Codecs.longs())
      val map = counts.asMap().asScala
      map("a") = 1L
      map("b") = 5L
      assertEquals(6L, map.values.map(_.longValue).sum)
      val merged: Long = counts.merger((a: java.lang.Long, b: java.lang.Long) => a + b).merge("a", 2L)
      assertEquals(3L, merged)
