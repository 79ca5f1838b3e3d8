//! What containers are made from: images, and volumes that are filled for them.

use bytes::Bytes;
use engine::{ContainerStatus, Content, EngineError, Volume};
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use protocol::epoch::Epoch;
use protocol::ids::JobId;

use super::World;
use crate::image;

pub(super) async fn no_image(world: World) {
    let mut spec = world.spec(170, "exit 0");
    spec.image = "berth-missing:none".into();
    let error = world.engine.create(&spec).await.unwrap_err();
    assert!(
        matches!(&error, EngineError::NoImage { image, .. } if *image == spec.image),
        "{error:?}"
    );
    assert!(!world.engine.has_image(&spec.image).await.unwrap());
    assert!(world.engine.has_image(&world.image).await.unwrap());
}

pub(super) async fn images(world: World) {
    let spec = world.spec(235, "sleep 600");
    let (name, image) = (spec.name(), "saved/alice/contract:1");
    let engine = &world.engine;
    engine.create(&spec).await.unwrap();
    let mut tar = tar::Builder::new(Vec::new());
    image::file(&mut tar, "made/here.txt", 0o640, &[b'x'; 70_000]);
    engine.put_archive(&name, "/", Bytes::from(tar.into_inner().unwrap())).await.unwrap();
    engine.start(&name).await.unwrap();
    let size = engine.container_size(&name).await.unwrap();
    assert!(size.own >= 70_000 && size.whole > size.own, "{size:?}");
    engine.commit(&name, image).await.unwrap();
    engine.commit(&name, image).await.unwrap();
    assert!(matches!(world.see(&name).await.status, ContainerStatus::Running { .. }));
    assert!(engine.has_image(image).await.unwrap());
    assert!(engine.image_size(image).await.unwrap() > 70_000);

    let tar: Vec<_> = engine.export(image).await.unwrap().collect().await;
    engine.remove_image(image).await.unwrap();
    engine.remove_image(image).await.unwrap();
    assert!(!engine.has_image(image).await.unwrap());
    let gone = engine.export(image).await.err().unwrap();
    assert!(matches!(gone, EngineError::NoImage { .. }), "{gone:?}");
    engine.import(futures::stream::iter(tar).boxed()).await.unwrap();
    let broken = futures::stream::iter([Err(EngineError::Failed("cut off".into()))]).boxed();
    let told = engine.import(broken).await.err().unwrap();
    assert!(matches!(&told, EngineError::Failed(words) if words == "cut off"), "{told:?}");

    let mut from = world.spec(236, "sleep 600");
    from.image = image.to_owned();
    engine.create(&from).await.unwrap();
    let made = engine.get_archive(&from.name(), "/made/here.txt").await.unwrap();
    assert!(made.try_collect::<Vec<Bytes>>().await.unwrap().concat().len() > 70_000);
    for name in [&name, &from.name()] {
        engine.remove(name).await.unwrap();
    }
    engine.remove_image(image).await.unwrap();
    let nobody = engine.commit(&name, image).await.unwrap_err();
    assert!(matches!(nobody, EngineError::NoContainer(_)), "{nobody:?}");
}

/// A source of files that breaks off in the middle.
struct Broken(Bytes);

#[async_trait::async_trait]
impl Content for Broken {
    async fn tar(&self) -> engine::Result<BoxStream<'static, engine::Result<Bytes>>> {
        let error = EngineError::Refused("the source is gone".into());
        Ok(futures::stream::iter([Ok(self.0.slice(..600)), Err(error)]).boxed())
    }
}

pub(super) async fn volumes(world: World) {
    let engine = &world.engine;
    let mut tar = tar::Builder::new(Vec::new());
    image::file(&mut tar, "data/main.py", 0o444, b"print('x')\n");
    let whole = Bytes::from(tar.into_inner().unwrap());
    let volume = |name: &str, cluster: &str, attempt| Volume {
        name: format!("berth-contract-{name}"),
        cluster: cluster.into(),
        attempt,
        epoch: Epoch::default().next(5),
    };
    let code = volume("code", "contract", Some((JobId(7), 2)));
    let guest = volume("guest", "contract", None);
    let foreign = volume("foreign", "another", None);
    let error = engine.provide(&code, &world.image, &Broken(whole.clone())).await.unwrap_err();
    assert!(error.to_string().contains("the source is gone"), "{error:?}");
    assert_eq!(
        engine.volumes("contract").await.unwrap(),
        std::slice::from_ref(&code),
        "it is to be removed"
    );
    let mut names = Vec::new();
    for volume in [&code, &guest, &foreign, &code] {
        names.push(engine.provide(volume, &world.image, &whole).await.unwrap());
    }
    assert_eq!(names[0], names[3], "what is whole is not filled again");
    let again = engine.provide(&code, &world.image, &Broken(whole.clone())).await.unwrap();
    assert_eq!(again, names[0]);
    let found = engine.volumes("contract").await.unwrap();
    assert_eq!(found, [code.clone(), guest.clone()]);

    let mut spec = world.spec(237, "true");
    spec.code = Some(names[0].clone());
    engine.create(&spec).await.unwrap();
    engine.remove_volume(&code.name).await.unwrap();
    let left = engine.volumes("contract").await.unwrap();
    assert_eq!(left, [code.clone(), guest.clone()], "a container has it");
    // What is filled after that is another one, and the container, which never ran, is made anew.
    let anew = engine.provide(&code, &world.image, &whole).await.unwrap();
    assert_ne!(anew, names[0]);
    spec.code = Some(anew);
    let first = world.see(&spec.name()).await.id;
    assert_ne!(engine.create(&spec).await.unwrap(), first);
    engine.remove(&spec.name()).await.unwrap();
    for volume in [&code, &guest, &foreign, &code] {
        engine.remove_volume(&volume.name).await.unwrap();
    }
    assert_eq!(engine.volumes("contract").await.unwrap(), []);
    // An engine makes a volume that is not there: no task is to have that one.
    let error = engine.create(&spec).await.unwrap_err();
    assert!(matches!(error, EngineError::Failed(_)), "{error:?}");
    assert_eq!(engine.inspect(&spec.name()).await.unwrap(), None, "it is not kept");
    engine.remove_volume(spec.code.as_deref().unwrap()).await.unwrap();
}
